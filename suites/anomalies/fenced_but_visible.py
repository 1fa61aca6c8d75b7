"""The anomaly ``fenced-but-visible``: commits records of fenced producers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.anomalies import FENCING
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def a_fenced_producer_writes_with_success(s: Story) -> Sequence[str]:
    s.init()
    s.init("b", epoch=1)
    s.begin(1)
    s.produce(1)
    s.commit(1)
    s.end()
    return ["fenced-but-visible"]


def a_write_that_was_refused_by_fencing_is_committed_by_the_successor(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.init("b", epoch=1)
    s.produce(1, outcome=Outcome.REFUSED, log=True)
    s.whole(2, actor="b")
    s.end()
    return ["fenced-but-visible"]


def two_inits_overlap_and_the_one_that_won_writes(s: Story) -> Sequence[str]:
    s.init("b", epoch=0)
    first = s.init("a", epoch=1)
    s.change("operations", 0, ended=first.ended + 1)
    s.whole(1, actor="a")
    s.end()
    return []


def a_write_under_way_while_another_inits_may_win(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    written = s.produce(1)
    s.commit(1)
    newer = s.init("b", epoch=1)
    s.change("operations", -1, started=written.started - 5, ended=newer.ended)
    s.end()
    return []


def producers_take_turns_with_one_transactional_id(s: Story) -> Sequence[str]:
    for turn, actor in enumerate("abc"):
        s.init(actor, epoch=turn)
        s.whole(9 - turn, actor=actor)
    s.end()
    return []


def one_actor_inits_again_and_goes_on(s: Story) -> Sequence[str]:
    s.init("b", epoch=0)
    s.init("a", epoch=1)
    s.init("b", epoch=2)
    s.whole(1, actor="b")
    s.end()
    return []


def fenced_yet_there(e: HistoryEditor) -> bool:
    """The producer was transactions that it is fenced, and its record is committed."""
    return e.refuse_one(e.rng.choice(FENCING))


def written_after_a_newer_init(e: HistoryEditor) -> bool:
    """Another actor's init of the same transactional id was done before a record that is committed was produced."""
    found = [(txn, produce) for txn in e.sound() for produce in txn.produces]
    if not found:
        return False
    _, produce = e.rng.choice(found)
    e.init_by_another(produce)
    return True


ANOMALY = Anomaly(
    name="fenced-but-visible",
    order=50,
    definition=(
        "the committed log has a record whose produce was refused by fencing (INVALID_PRODUCER_EPOCH, "
        "PRODUCER_FENCED, INVALID_PRODUCER_ID_MAPPING), or began after a newer init of its transactional id by "
        "another actor was done"
    ),
    phrase="commits records of fenced producers",
    stories=(
        a_fenced_producer_writes_with_success,
        a_write_that_was_refused_by_fencing_is_committed_by_the_successor,
        two_inits_overlap_and_the_one_that_won_writes,
        a_write_under_way_while_another_inits_may_win,
        producers_take_turns_with_one_transactional_id,
        one_actor_inits_again_and_goes_on,
    ),
    plants=(Plant(change=fenced_yet_there), Plant(change=written_after_a_newer_init)),
)
