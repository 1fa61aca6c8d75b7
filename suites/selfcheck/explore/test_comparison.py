"""Each part of the comparison fails when what it looks at is not as the model says."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.explore.cell_results import CellSeen, Difference, SeenId, SeenLog, SeenProducer
from harness.explore.comparison import UNKNOWN, compare, held_wrongly, stable_offset
from harness.model.model_requests import EndTxnAsked, InitProducerIdAsked, ModelAnswer, ModelRequest, ProduceAsked
from harness.model.model_state import LogEntry, ModelCluster, fresh_cluster
from harness.model.protocol_profile import NEWEST
from harness.model.protocol_step import outcomes, settled

INIT = InitProducerIdAsked(id="own", version=4)
WRITE = ProduceAsked(id="own", version=12, partition="A", producer_id=0, epoch=0, sequence=0, value="x")
COMMIT = EndTxnAsked(id="own", version=5, producer_id=0, epoch=0, commit=True)

WRITTEN = CellSeen(
    answer=ModelAnswer(),
    ids={
        "own": SeenId(state="Ongoing", producer_id=0, epoch=0, partitions=frozenset("A")),
        "other": SeenId(error=UNKNOWN),
    },
    logs={
        "A": SeenLog(
            producers=(SeenProducer(producer_id=0, epoch=0, last_sequence=0, open_since=0),),
            entries=(LogEntry(0, 0, sequence=0, value="x"),),
        ),
        "B": SeenLog(),
    },
)
COMMITTED = CellSeen(
    answer=ModelAnswer(producer_id=0, epoch=1),
    ids={"own": SeenId(state="CompleteCommit", producer_id=0, epoch=1), "other": SeenId(error=UNKNOWN)},
    logs={
        "A": SeenLog(
            producers=(SeenProducer(producer_id=0, epoch=1, coordinator_epoch=0),),
            entries=(LogEntry(0, 0, sequence=0, value="x"), LogEntry(0, 1, marker=True)),
        ),
        "B": SeenLog(),
    },
)


def after(*path: ModelRequest) -> ModelCluster:
    """The state that a path leads to."""
    cluster = fresh_cluster("A", "B")
    for asked in path:
        cluster = settled(outcomes(cluster, asked, NEWEST)[0].after, NEWEST)
    return cluster


def differences(asked: ModelRequest, seen: CellSeen, *path: ModelRequest) -> tuple[Difference, ...]:
    return compare(after(*path), asked, NEWEST, seen)


def test_what_the_model_says_agrees() -> None:
    assert differences(WRITE, WRITTEN, INIT) == ()
    assert differences(COMMIT, COMMITTED, INIT, WRITE) == ()


def with_id(seen: CellSeen, **changed: object) -> CellSeen:
    return replace(seen, ids={**seen.ids, "own": replace(seen.ids["own"], **changed)})  # type: ignore[arg-type]


def with_log(seen: CellSeen, **changed: object) -> CellSeen:
    return replace(seen, logs={**seen.logs, "A": replace(seen.logs["A"], **changed)})  # type: ignore[arg-type]


def with_producer(seen: CellSeen, **changed: object) -> CellSeen:
    return with_log(seen, producers=(replace(seen.logs["A"].producers[0], **changed),))  # type: ignore[arg-type]


DOCTORED: Mapping[str, tuple[str, CellSeen]] = {
    "another error": ("answer", replace(COMMITTED, answer=ModelAnswer("INVALID_TXN_STATE", 0, 1))),
    "another producer id": ("identity", replace(COMMITTED, answer=ModelAnswer(producer_id=1, epoch=1))),
    "another epoch": ("identity", replace(COMMITTED, answer=ModelAnswer(producer_id=0, epoch=0))),
    "another state": ("coordinator of own", with_id(COMMITTED, state="CompleteAbort")),
    "the coordinator's producer id": ("coordinator of own", with_id(COMMITTED, producer_id=1)),
    "the coordinator's epoch": ("coordinator of own", with_id(COMMITTED, epoch=2)),
    "the coordinator's partitions": ("coordinator of own", with_id(COMMITTED, partitions=frozenset("A"))),
    "an unknown id": ("coordinator of own", with_id(COMMITTED, error=UNKNOWN)),
    "a touched id of another one": (
        "coordinator of other",
        replace(COMMITTED, ids={**COMMITTED.ids, "other": SeenId(state="Empty", producer_id=1, epoch=0)}),
    ),
    "the leader's epoch": ("leader of A", with_producer(COMMITTED, epoch=0)),
    "the leader's last sequence": ("leader of A", with_producer(COMMITTED, last_sequence=0)),
    "an open transaction": ("leader of A", with_producer(COMMITTED, open_since=0)),
    "the coordinator epoch of the marker": ("leader of A", with_producer(COMMITTED, coordinator_epoch=-1)),
    "no producer": ("leader of A", with_log(COMMITTED, producers=())),
    "one producer more": (
        "leader of B",
        replace(COMMITTED, logs={**COMMITTED.logs, "B": SeenLog(producers=(SeenProducer(producer_id=0, epoch=1),))}),
    ),
    "another marker": (
        "log of A",
        with_log(COMMITTED, entries=(LogEntry(0, 0, sequence=0, value="x"), LogEntry(0, 1, marker=False))),
    ),
    "no marker": ("log of A", with_log(COMMITTED, entries=COMMITTED.logs["A"].entries[:1])),
    "a marker twice": (
        "log of A",
        with_log(COMMITTED, entries=(*COMMITTED.logs["A"].entries, COMMITTED.logs["A"].entries[1])),
    ),
    "another order": ("log of A", with_log(COMMITTED, entries=COMMITTED.logs["A"].entries[::-1])),
    "another value": (
        "log of A",
        with_log(COMMITTED, entries=(LogEntry(0, 0, sequence=0, value="y"), LogEntry(0, 1, marker=True))),
    ),
    "another sequence": (
        "log of A",
        with_log(COMMITTED, entries=(LogEntry(0, 0, sequence=1, value="x"), LogEntry(0, 1, marker=True))),
    ),
}


@pytest.mark.parametrize("name", DOCTORED)
def test_doctored_evidence_differs_in_one_part(name: str) -> None:
    part, seen = DOCTORED[name]
    assert {each.part for each in differences(COMMIT, seen, INIT, WRITE)} == {part}


def test_a_difference_tells_both_sides() -> None:
    (found,) = differences(COMMIT, with_id(COMMITTED, epoch=2), INIT, WRITE)
    assert (found.expected, found.seen) == ("CompleteCommit, producer 0 epoch 1", "CompleteCommit, producer 0 epoch 2")


def test_the_last_stable_offset_is_the_first_open_one_of_all_cells() -> None:
    assert stable_offset(9, {7: 4, 8: 2}) == 2
    assert stable_offset(9, {}) == 9
    assert held_wrongly(9, 2, {7: 4, 8: 2}) is None
    assert held_wrongly(9, 9, {}) is None


def test_a_last_stable_offset_that_is_held_back_or_passed_is_told_where() -> None:
    assert held_wrongly(9, 3, {}) == 3
    assert held_wrongly(9, 9, {7: 4}) == 4
    assert held_wrongly(9, 1, {7: 4}) == 1
