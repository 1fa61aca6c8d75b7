"""The anomaly ``wrong-description``: describes producers, transactions or itself wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.asked_request import AskedRequest
from harness.evidence.history.operation import KeptTransaction, OpenProducer, Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def _producer(s: Story, epoch: int, **more: int) -> OpenProducer:
    given = {"transaction_start_offset": -1, "last_timestamp_ms": 0, **more}
    return OpenProducer(topic=s.topic, partition=0, producer_id=s.pid(), epoch=epoch, **given)


def _transaction(s: Story, state: str, epoch: int = 0, **more: Any) -> KeptTransaction:
    return KeptTransaction(
        transactional_id=f"id-{s.number}",
        state=state,
        producer_id=s.pid(),
        epoch=epoch,
        timeout_ms=10_000,
        **{"started_ms": -1, "partitions": "", **more},
    )


def _described_after_commit(s: Story, **more: Any) -> None:
    """A transaction is committed; its coordinator, lists and records tell of it as given."""
    s.init()
    s.whole(1)
    s.add(_transaction(s, "CompleteCommit", **more))
    s.end()


def a_leader_gives_a_producer_an_older_epoch(s: Story) -> Sequence[str]:
    s.init(epoch=4)
    s.begin(1)
    s.produce(1, epoch=4)
    s.commit(1, control=None)
    s.marker(epoch=4)
    s.add(_producer(s, 3))
    s.end()
    return ["wrong-description"]


def a_leader_keeps_a_sequence_that_a_new_epoch_ended(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.commit(1, control=None)
    s.marker(epoch=1)
    s.add(_producer(s, 1, last_sequence=0))
    s.end()
    return ["wrong-description"]


def a_leader_tells_of_a_producer_that_never_wrote(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.add(_producer(s, 0, last_sequence=0), replace(_producer(s, 0), producer_id=s.pid(1)))
    s.end()
    return ["wrong-description"]


def a_leader_tells_of_a_producer_twice(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.add(_producer(s, 0, last_sequence=0), _producer(s, 0, last_sequence=0))
    s.end()
    return ["wrong-description"]


def a_leader_keeps_what_it_appended_last(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.begin(2)
    s.produce(2)
    s.commit(2, control=None)
    s.marker(epoch=1)
    s.add(_producer(s, 1, last_sequence=-1))
    s.end()
    return []


def a_coordinator_tells_of_an_abort_after_a_commit(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.begin(2)
    s.produce(2)
    s.commit(2, producer_id=s.pid(), epoch=0)
    s.add(_transaction(s, "CompleteAbort"))
    s.end()
    return ["wrong-description"]


def a_coordinator_is_behind_the_epoch_that_it_answered(s: Story) -> Sequence[str]:
    s.init(epoch=2)
    s.add(_transaction(s, "Empty", epoch=1))
    s.whole(1)
    s.end()
    return ["wrong-description"]


def a_finished_transaction_has_partitions(s: Story) -> Sequence[str]:
    _described_after_commit(s, partitions=f"{s.topic}-0")
    return ["wrong-description"]


def a_coordinator_lists_nothing(s: Story) -> Sequence[str]:
    _described_after_commit(s, listed="")
    return ["wrong-description"]


def a_coordinator_lists_another_state(s: Story) -> Sequence[str]:
    _described_after_commit(s, listed=f"Ongoing {s.pid()}")
    return ["wrong-description"]


def two_coordinators_list_one_id(s: Story) -> Sequence[str]:
    _described_after_commit(s, listed=f"CompleteCommit {s.pid()},CompleteCommit {s.pid()}")
    return ["wrong-description"]


def a_coordinator_lists_what_it_describes(s: Story) -> Sequence[str]:
    _described_after_commit(s, listed=f"CompleteCommit {s.pid()}")
    return []


def a_coordinator_wrote_another_epoch(s: Story) -> Sequence[str]:
    _described_after_commit(s, started_ms=77, recorded=f"CompleteCommit {s.pid()} 1 10000 -1 77")
    return ["wrong-description"]


def a_coordinator_wrote_that_another_producer_id_follows(s: Story) -> Sequence[str]:
    s.init()
    s.add(_transaction(s, "Empty", recorded=f"Empty {s.pid()} 0 10000 {s.pid(1)} -1"))
    s.whole(1)
    s.end()
    return ["wrong-description"]


def a_coordinator_wrote_what_it_describes(s: Story) -> Sequence[str]:
    _described_after_commit(s, started_ms=77, recorded=f"CompleteCommit {s.pid()} 0 10000 -1 77")
    return []


def _recorded_after_commit(s: Story, client: str, recorded: str) -> None:
    """A client commits; the last record of its id names a protocol."""
    s.init()
    s.begin(1)
    s.produce(1)
    s.commit(1, client=client, protocol="v1", producer_id=s.pid(), epoch=0)
    s.add(_transaction(s, "CompleteCommit", protocol=recorded))
    s.end()


def a_coordinator_wrote_that_another_protocol_is_used(s: Story) -> Sequence[str]:
    _recorded_after_commit(s, "wire-v1", "v2")
    return ["wrong-description"]


def a_coordinator_wrote_by_which_protocol_the_end_came(s: Story) -> Sequence[str]:
    _recorded_after_commit(s, "wire-v1", "v1")
    return []


def a_library_may_have_ended_by_another_protocol(s: Story) -> Sequence[str]:
    _recorded_after_commit(s, "librdkafka", "v2")
    return []


def a_coordinator_tells_of_another_timeout(s: Story) -> Sequence[str]:
    s.init(client="wire-v1", timeout_ms=6_000)
    s.add(_transaction(s, "Empty"))
    s.end()
    return ["wrong-description"]


def one_of_several_timeouts_is_told(s: Story) -> Sequence[str]:
    s.init(client="wire-v1", timeout_ms=6_000)
    s.init("b", epoch=1, client="wire-v1", timeout_ms=10_000)
    s.add(_transaction(s, "Empty", epoch=1))
    s.end()
    return []


def a_library_may_ask_for_another_timeout(s: Story) -> Sequence[str]:
    s.init(timeout_ms=6_000)
    s.add(_transaction(s, "Empty"))
    s.end()
    return []


def an_id_that_nobody_began_with_was_used_before(s: Story) -> Sequence[str]:
    """A successor looks at its id, which was used before the history, and never comes to its first init."""
    s.ask(AskedRequest(api="DescribeTransactions"), producer_id=s.pid(), epoch=0)
    s.add(_transaction(s, "Empty"))
    s.end()
    return []


def somebody_else_moved_the_id_on(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.commit(1, producer_id=s.pid(), epoch=0)
    s.operation("init", "b", outcome=Outcome.UNSURE)
    s.add(_transaction(s, "Empty", epoch=1))
    s.end()
    return []


def leader_tells_another_epoch(e: HistoryEditor) -> bool:
    """A leader describes a producer with an epoch that is not that of its last batch or marker."""
    if not e.history.producers:
        return False
    kept = e.rng.choice(e.history.producers)
    e.swap(e.history.producers, kept, replace(kept, epoch=kept.epoch + e.rng.choice((-1, 1))))
    return True


def _described(e: HistoryEditor) -> KeptTransaction | None:
    """Any id that a coordinator describes, and for which a client was handed an identity."""
    handed = {one.transactional_id for inits in e.inits().values() for one in inits if one.producer_id is not None}
    found = [kept for kept in e.history.transactions if kept.transactional_id in handed]
    return e.rng.choice(found) if found else None


def coordinator_tells_of_open_partitions(e: HistoryEditor) -> bool:
    """A coordinator describes a transaction that is over with a partition."""
    kept = _described(e)
    if kept is None:
        return False
    topic, partition = e.rng.choice(e.history.places())
    e.swap(e.history.transactions, kept, replace(kept, partitions=f"{topic}-{partition}"))
    return True


def coordinator_lists_another_producer_id(e: HistoryEditor) -> bool:
    """All brokers list an id with the producer id after its own, or no broker does."""
    kept = _described(e)
    if kept is None:
        return False
    listed = e.rng.choice(("", f"{kept.state} {kept.producer_id + 1}"))
    e.swap(e.history.transactions, kept, replace(kept, listed=listed))
    return True


def coordinator_wrote_a_longer_timeout(e: HistoryEditor) -> bool:
    """The last record of an id has another timeout than its coordinator describes, or its last epoch but one."""
    kept = _described(e)
    if kept is None:
        return False
    state, producer_id, epoch, timeout, *rest = str(kept.recorded).split()
    changed = e.rng.choice(([epoch, f"{timeout}0"], [f"{int(epoch) - 1}", timeout]))
    e.swap(e.history.transactions, kept, replace(kept, recorded=" ".join([state, producer_id, *changed, *rest])))
    return True


ANOMALY = Anomaly(
    name="wrong-description",
    order=215,
    definition=(
        "after settling, a leader tells of a producer another epoch, last sequence or coordinator epoch than its log "
        "has, an older time, or of one that its log, which begins at 0, does not have, or of one twice, or "
        "(``facts.producers_asked``) lacks one; or a coordinator tells of a transactional id no producer id, an older "
        "epoch than it has handed out, another state than the last ``init``, ``commit`` or ``abort`` left where its "
        "identity is still the one handed out then, partitions of a transaction that is over, no timeout, or another "
        "one than its wire clients asked for; or of an id all brokers' lists, or its records in "
        "``__transaction_state``, have something else than its coordinator describes, or the last record names another "
        "protocol than a wire client ended the last transaction by; "
        "or a broker advertises an API or feature otherwise than before the run (``facts.changed_offers``)"
    ),
    phrase="describes producers, transactions or itself wrongly",
    stories=(
        a_leader_gives_a_producer_an_older_epoch,
        a_leader_keeps_a_sequence_that_a_new_epoch_ended,
        a_leader_tells_of_a_producer_that_never_wrote,
        a_leader_tells_of_a_producer_twice,
        a_leader_keeps_what_it_appended_last,
        a_coordinator_tells_of_an_abort_after_a_commit,
        a_coordinator_is_behind_the_epoch_that_it_answered,
        a_finished_transaction_has_partitions,
        a_coordinator_lists_nothing,
        a_coordinator_lists_another_state,
        two_coordinators_list_one_id,
        a_coordinator_lists_what_it_describes,
        a_coordinator_wrote_another_epoch,
        a_coordinator_wrote_that_another_producer_id_follows,
        a_coordinator_wrote_what_it_describes,
        a_coordinator_wrote_that_another_protocol_is_used,
        a_coordinator_wrote_by_which_protocol_the_end_came,
        a_library_may_have_ended_by_another_protocol,
        a_coordinator_tells_of_another_timeout,
        one_of_several_timeouts_is_told,
        a_library_may_ask_for_another_timeout,
        an_id_that_nobody_began_with_was_used_before,
        somebody_else_moved_the_id_on,
    ),
    plants=(
        Plant(change=leader_tells_another_epoch),
        Plant(change=coordinator_tells_of_open_partitions),
        Plant(change=coordinator_lists_another_producer_id),
        Plant(change=coordinator_wrote_a_longer_timeout),
    ),
)
