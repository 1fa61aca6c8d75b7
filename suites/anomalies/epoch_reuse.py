"""The anomaly ``epoch-reuse``: hands out one producer epoch twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def an_epoch_is_not_bumped_by_an_end(s: Story) -> Sequence[str]:
    s.init(protocol="v2")
    s.begin(1)
    s.produce(1)
    s.commit(1, protocol="v2", producer_id=s.pid(), epoch=0)
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
    s.init("b", epoch=1, protocol="v2")
    for txn in (3, 4):
        s.begin(txn, actor="b")
        s.produce(txn, actor="b", epoch=txn - 2)
        s.commit(txn, actor="b", protocol="v2", producer_id=s.pid(), epoch=txn - 1)
    s.begin(5, actor="b")
    s.abort(5, actor="b", control=None, protocol="v2", producer_id=s.pid(), epoch=3)
    s.end()
    return []


def init_hands_an_epoch_out_again(e: HistoryEditor) -> bool:
    """Two inits of one transactional id got the same epoch."""
    found = [
        (first, second)
        for inits in e.inits().values()
        for first, second in pairwise(inits)
        if first.producer_id == second.producer_id and first.ended < second.started
    ]
    if not found:
        return False
    first, second = e.rng.choice(found)
    e.swap(e.history.operations, second, replace(second, epoch=first.epoch))
    return True


def end_hands_the_same_epoch_out(e: HistoryEditor) -> bool:
    """The end of a transaction of Transactions V2 brought no new epoch."""
    transactions = [txn for txn in e.transactions() if txn.acknowledged]
    found = [
        (txn.produces[0], end)
        for txn in transactions
        for end in txn.ends
        if end.protocol == "v2" and end.outcome is Outcome.DONE
    ]
    if not found:
        return False
    before, end = e.rng.choice(found)
    e.swap(e.history.operations, end, replace(end, epoch=before.epoch))
    return True


ANOMALY = Anomaly(
    name="epoch-reuse",
    order=170,
    definition=(
        "one producer id and epoch was handed out twice: by an ``init`` that was done, or by the ``commit`` or "
        "``abort`` that was done, of a transaction with an acknowledged write, by a client whose ``protocol`` is ``v2``"
    ),
    phrase="hands out one producer epoch twice",
    stories=(
        an_epoch_is_not_bumped_by_an_end,
        an_epoch_is_handed_to_two_actors,
        ends_of_v1_hand_out_nothing_and_those_of_v2_the_next,
    ),
    plants=(Plant(change=init_hands_an_epoch_out_again), Plant(change=end_hands_the_same_epoch_out)),
)
