"""Stories of readers, offsets, identities and what is left: see the stories of what was written."""

from collections.abc import Sequence

from harness.history.operation import GroupOffset, Level, Phase
from suites.selfcheck.judge_stories import REFUSED, UNSURE, Story, told_in


def a_reader_is_shown_an_aborted_record(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, commit=False)
    s.whole(2)
    s.end()
    s.tell(s.read("spark", 0, s.value(1)))
    return ["aborted-read"]


def an_actor_was_shown_an_aborted_record(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, commit=False)
    s.end()
    s.tell(s.read("actor", 0, s.value(1)))
    return ["aborted-read"]


def a_reader_is_shown_an_open_record(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.begin(2)
    s.produce(2)
    s.end()
    s.tell(s.read("wire", 2, s.value(2)))
    return ["dirty-read", "hanging-transaction", "stuck-lso"]


def a_reader_was_shown_what_is_nowhere_now(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1, outcome=UNSURE, log=False)
    s.abort(1)
    s.end()
    s.tell(s.read("wire", 0, s.value(1)))
    return ["dirty-read"]


def a_reader_lacks_a_transaction(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.whole(2)
    s.end()
    s.events["reads"].remove(s.read("spark", 0, s.value(1)))
    return ["lost-commit"]


def a_reader_lacks_half_a_transaction(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 1)
    s.end()
    s.events["reads"].remove(s.read("wire", 0, s.value(1, 0, 2)))
    return ["torn-transaction"]


def a_reader_delivers_an_offset_twice(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.end()
    s.tell(s.read("spark", 0, s.value(1)))
    return ["duplicate"]


def a_reader_delivers_something_else(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.end(readers=["wire"])
    s.tell(s.came_to("spark", 0, 2), s.read("spark", 0, s.value(1, payload="else")))
    return ["altered-record"]


def a_reader_that_did_not_come_far_lacks_nothing(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.whole(2)
    s.end(readers=["wire"])
    s.tell(s.came_to("librdkafka", 0, 2), s.read("librdkafka", 0, s.value(1)))
    return []


def an_actor_reads_again_and_stops_anywhere(s: Story) -> Sequence[str]:
    s.init()
    for txn in (1, 2, 3):
        s.whole(txn)
    s.end()
    s.tell(*(s.read("actor", 0, s.value(1)) for _ in range(2)), s.read("actor", 2, s.value(2)))
    s.tell(s.came_to("actor", 0, 6))
    return []


def the_last_stable_offset_is_stuck_with_nothing_open(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.end(lso={0: 1})
    return ["stuck-lso"]


def the_last_stable_offset_is_above_what_is_open(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.end(lso={0: 1}, readers=[])
    return ["hanging-transaction", "wrong-lso"]


def fetch_tells_another_last_stable_offset(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.end()
    s.change("levels", -1, last_stable_offset=0)
    return ["wrong-lso"]


def sample(s: Story, at: float, high_watermark: int, last_stable_offset: int) -> Level:
    """A sample of partition 0's levels."""
    told = {"high_watermark": high_watermark, "last_stable_offset": last_stable_offset}
    return Level(at=at, topic=s.topic, partition=0, **told)


def the_last_stable_offset_was_above_what_was_open(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.tell(*(sample(s, at, 1, 1) for at in (1, 2)))
    s.commit(1)
    s.end()
    return ["wrong-lso"]


def a_marker_comes_between_the_two_numbers_of_a_sample(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.tell(sample(s, 1, 1, 0), sample(s, 2, 1, 1))
    s.commit(1)
    s.tell(sample(s, 3, 2, 2), sample(s, 4, 2, 2))
    s.end()
    return []


def the_log_begins_later_than_the_run(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.whole(2)
    s.end()
    del s.events["log"][:2]
    s.change("partitions", 0, log_start_offset=2)
    return []


def an_epoch_is_not_bumped_by_an_end(s: Story) -> Sequence[str]:
    s.init(client="wire-v2")
    s.begin(1)
    s.produce(1)
    s.commit(1, client="wire-v2", producer_id=s.pid(), epoch=0)
    s.end()
    return ["epoch-reuse"]


def an_epoch_is_handed_to_two_actors(s: Story) -> Sequence[str]:
    s.init()
    s.init("b")
    s.end()
    return ["epoch-reuse"]


def ends_of_v1_hand_out_nothing_and_those_of_v2_the_next(s: Story) -> Sequence[str]:
    s.init()
    for txn in (1, 2):
        s.begin(txn)
        s.produce(txn)
        s.commit(txn, producer_id=s.pid(), epoch=0)
    s.init("b", epoch=1, client="wire-v2")
    for txn in (3, 4):
        s.begin(txn, actor="b")
        s.produce(txn, actor="b", epoch=txn - 2)
        s.commit(txn, actor="b", client="wire-v2", producer_id=s.pid(), epoch=txn - 1)
    s.begin(5, actor="b")
    s.abort(5, actor="b", control=None, client="wire-v2", producer_id=s.pid(), epoch=3)
    s.end()
    return []


def a_producer_id_is_handed_to_two_transactional_ids(s: Story) -> Sequence[str]:
    s.init()
    s.init("b", epoch=1, transactional_id=f"other-{s.number}")
    s.end()
    return ["producer-id-reuse"]


def relay(s: Story, txn: int, inputs: Sequence[int], *, group: str = "g", **ending: object) -> None:
    """A relay of inputs at partition 0 to outputs on partition 1."""
    s.begin(txn, len(inputs))
    for nth, offset in enumerate(inputs):
        s.produce(txn, nth, size=len(inputs), at=1, payload=f"relay:{s.topic}-0@{offset}")
    upto, name = max(inputs) + 1, f"{group}-{s.number}"
    s.operation("send_offsets", txn=s.txn(txn), topic=s.topic, partition=0, offset=upto, group=name)
    s.commit(txn, 1, **ending)  # type: ignore[arg-type]


def kept(s: Story, offset: int) -> GroupOffset:
    """The group's offset after settling."""
    return GroupOffset(group=f"g-{s.number}", topic=s.topic, partition=0, offset=offset)


def an_input_is_relayed_again_after_an_abort(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 0)
    relay(s, 2, [0, 1], outcome=REFUSED, control="ABORT")
    relay(s, 3, [0, 1])
    s.end()
    s.tell(kept(s, 2))
    return []


def an_input_is_relayed_twice(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    relay(s, 2, [0])
    relay(s, 3, [0])
    s.end()
    s.tell(kept(s, 1))
    return ["duplicate"]


def offsets_are_committed_though_the_transaction_was_aborted(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 0)
    relay(s, 2, [0])
    relay(s, 3, [1], outcome=UNSURE, control="ABORT")
    s.end()
    s.tell(kept(s, 2))
    return ["offsets-without-records"]


def offsets_are_not_committed_though_the_transaction_was(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 0)
    relay(s, 2, [0])
    relay(s, 3, [1])
    s.end()
    s.tell(kept(s, 1))
    return ["records-without-offsets"]


def offsets_that_were_sent_in_doubt_may_be_committed_or_not(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 0)
    relay(s, 2, [0])
    relay(s, 3, [1])
    sent = [n for n, one in enumerate(s.events["operations"]) if one.verb == "send_offsets"]
    s.change("operations", sent[1], outcome=UNSURE, error=None)
    s.end()
    s.tell(kept(s, 1))
    return []


def an_output_is_lost_which_has_a_name_of_its_own(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    relay(s, 2, [0], control="ABORT")
    s.end()
    s.tell(kept(s, 1))
    return ["lost-commit"]


def no_probe_can_commit(s: Story) -> Sequence[str]:
    for tried in ("probe-1", "probe-1.2"):
        s.operation("init", tried, outcome=UNSURE, error=None, reason="no answer")
    s.tell(Phase(name="settle", started=1, ended=2))
    s.end()
    return ["unavailable-after-heal"]


def a_probe_commits_in_its_second_try(s: Story) -> Sequence[str]:
    s.operation("init", "probe-1", outcome=UNSURE, error=None)
    s.init("probe-1.2")
    s.whole(1, actor="probe-1.2")
    s.end()
    return []


STORIES = told_in(globals(), helpers=("relay", "kept", "sample"))
"""Every story of this module."""
