"""A cell on its way: what it asks, when it strays, and how a look is put into the model's words."""

from dataclasses import replace

import pytest

from harness.explore.cell_batch import wrong_stable_offsets
from harness.explore.cell_identities import TIMEOUT_MS, CellIdentities
from harness.explore.cell_results import Difference, SeenId, SeenLog, SeenProducer, SeenStart
from harness.explore.cell_run import CellRun
from harness.explore.looks.pool_look import PoolLook
from harness.explore.passing_answers import MAY_BE_DONE, NOTHING_DONE, WHY_UNSURE
from harness.model.grid import GridCell
from harness.model.model_requests import EndTxnAsked, InitProducerIdAsked, ModelAnswer, ModelRequest, ProduceAsked
from harness.model.model_state import LogEntry, fresh_cluster
from harness.model.protocol_profile import NEWEST
from harness.model.protocol_step import outcomes, settled
from harness.wire.records.record_batch import LogBatch, Record
from harness.wire.requests.transactions.describe_producers import ActiveProducer
from harness.wire.requests.transactions.describe_transactions import DescribedTransaction

INIT = InitProducerIdAsked(id="own", version=4)
WRITE = ProduceAsked(id="own", version=12, partition="A", producer_id=0, epoch=0, sequence=0)
COMMIT = EndTxnAsked(id="own", version=5, producer_id=0, epoch=0, commit=True)
PLACES = {"A": ("t", 0), "B": ("t", 1)}


def run(*path: ModelRequest, asked: ModelRequest = COMMIT) -> CellRun:
    before = fresh_cluster("A", "B")
    for step in path:
        before = settled(outcomes(before, step, NEWEST)[0].after, NEWEST)
    cell = GridCell(path=path, before=before, asked=asked, state="", request="")
    who = CellIdentities(number=1, ids={"own": "x"}, places=PLACES, coordinator_epochs={"own": 4})
    return CellRun(number=1, cell=cell, who=who, profile=NEWEST)


def test_the_path_is_followed_by_what_is_asked() -> None:
    one = run(INIT, WRITE)
    answers = ((INIT, ModelAnswer("NONE", 0, 0)), (WRITE, ModelAnswer()), (COMMIT, ModelAnswer("NONE", 0, 1)))
    asked: ModelRequest
    for asked, answer in answers:
        assert one.next_request == asked
        one.take(asked, answer)
    assert one.next_step is None


def test_a_step_that_the_model_does_not_allow_ends_the_path() -> None:
    one = run(INIT, WRITE)
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    assert one.beginning is None
    one.take(WRITE, ModelAnswer("OUT_OF_ORDER_SEQUENCE_NUMBER"))
    assert one.strayed == Difference(part="step 2", expected="NONE", seen="OUT_OF_ORDER_SEQUENCE_NUMBER")
    assert one.next_step is None


def test_an_answer_passes_only_where_the_model_does_not_expect_it() -> None:
    one = run(INIT, WRITE, asked=INIT)
    assert one.passing(INIT, ModelAnswer("CONCURRENT_TRANSACTIONS"))
    assert not one.passing(INIT, ModelAnswer("PRODUCER_FENCED"))
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.take(WRITE, ModelAnswer())
    assert not one.passing(INIT, ModelAnswer("CONCURRENT_TRANSACTIONS"))


@pytest.mark.parametrize("error", sorted(MAY_BE_DONE))
@pytest.mark.parametrize(("epoch", "missed", "following"), [(1, WHY_UNSURE, None), (0, None, WRITE)])
def test_what_was_sent_again_when_a_coordinator_moved_is_never_told_to_differ(
    error: str, epoch: int, missed: str | None, following: ModelRequest | None
) -> None:
    one = run(INIT, WRITE)
    one.note_passed(ModelAnswer(error))
    one.take(INIT, ModelAnswer("NONE", 0, epoch))
    assert (one.strayed, one.missed, one.next_step) == (None, missed, following)


@pytest.mark.parametrize("error", sorted(NOTHING_DONE))
def test_what_was_sent_again_when_nothing_was_done_is_told_to_differ(error: str) -> None:
    one = run(INIT, WRITE)
    one.note_passed(ModelAnswer(error))
    one.take(INIT, ModelAnswer("NONE", 0, 1))
    assert one.missed is None
    assert one.strayed == Difference(
        part="step 1", expected="NONE, producer 0 epoch 0", seen="NONE, producer 0 epoch 1"
    )


def test_an_answer_that_passes_for_ever_is_told_to_differ() -> None:
    one = run(INIT, WRITE)
    one.note_passed(ModelAnswer("NOT_COORDINATOR"))
    one.take(INIT, ModelAnswer("NOT_COORDINATOR"))
    assert one.missed is None
    assert one.strayed is not None


def test_a_transaction_that_ends_is_waited_for() -> None:
    one = run(INIT, WRITE)
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.take(WRITE, ModelAnswer())
    assert one.ending == frozenset()
    one.take(COMMIT, ModelAnswer("NONE", 0, 1))
    assert one.ending == {"own"}


def batch(offset: int, *, epoch: int, sequence: int = -1, marker: bool | None = None) -> LogBatch:
    key = None if marker is None else bytes((0, 0, 0, marker))
    record = Record(offset=offset, timestamp_ms=0, key=key, value=b"" if marker is None else bytes((0, 0, 0, 0, 0, 4)))
    return LogBatch(
        base_offset=offset,
        last_offset=offset,
        leader_epoch=0,
        attributes=0x10 if marker is None else 0x30,
        base_timestamp_ms=0,
        max_timestamp_ms=0,
        producer_id=7000,
        producer_epoch=epoch,
        base_sequence=sequence,
        records=(record,),
    )


def producer(**changed: int) -> ActiveProducer:
    shown = ActiveProducer(
        producer_id=7000,
        producer_epoch=1,
        last_sequence=-1,
        last_timestamp=0,
        coordinator_epoch=4,
        current_txn_start_offset=-1,
    )
    shown.update(changed)  # type: ignore[typeddict-item]
    return shown


LOOK = PoolLook(
    ids={
        "x": DescribedTransaction(
            error=0,
            state="CompleteCommit",
            producer_id=7000,
            producer_epoch=1,
            timeout_ms=TIMEOUT_MS,
            start_time_ms=-1,
            partitions=[],
        )
    },
    producers={("t", 0): {7000: producer(), 8000: producer(producer_id=8000)}, ("t", 1): {}},
    batches={("t", 0): {7000: [batch(5, epoch=0, sequence=0), batch(9, epoch=1, marker=True)]}, ("t", 1): {}},
    ends={("t", 0): 10, ("t", 1): 0},
    stable={("t", 0): 10, ("t", 1): 0},
)


def committed() -> CellRun:
    one = run(INIT, WRITE)
    assert one.who.given(7000, "own") == 0
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.take(WRITE, ModelAnswer())
    one.take(COMMIT, ModelAnswer("NONE", 0, 1))
    return one


def test_a_look_is_told_in_the_models_words() -> None:
    one = committed()
    seen = one.seen(LOOK)
    assert seen is not None
    assert seen.ids == {"own": SeenId(state="CompleteCommit", producer_id=0, epoch=1)}
    assert seen.logs["B"] == SeenLog()
    assert seen.logs["A"].producers == (SeenProducer(producer_id=0, epoch=1, coordinator_epoch=0),)
    assert seen.logs["A"].entries == (LogEntry(0, 0, sequence=0), LogEntry(0, 1, marker=True))
    assert one.compared(seen) == ()


def test_an_open_transaction_is_told_by_the_entry_that_it_began_with() -> None:
    one = committed()
    for offset, since in ((5, 0), (9, 1), (6, -2)):
        shown = {7000: producer(current_txn_start_offset=offset)}
        seen = one.seen(replace(LOOK, producers={**LOOK.producers, ("t", 0): shown}))
        assert seen is not None
        assert seen.logs["A"].producers[0].open_since == since


def test_a_last_stable_offset_that_contradicts_the_leader_is_told_of_the_cell_whose_entry_lies_there() -> None:
    one = committed()
    assert list(wrong_stable_offsets([one], LOOK)) == []
    held = replace(LOOK, stable={**LOOK.stable, ("t", 0): 5})
    assert list(wrong_stable_offsets([one], held)) == [(1, Difference(part="LSO of A", expected="10", seen="5"))]


def test_what_is_shown_to_consumers_behind_the_last_stable_offset_is_told() -> None:
    one = committed()
    leaked = replace(LOOK, leaked={("t", 0): 5})
    told = Difference(part="read_committed of A", expected="nothing from 10 on", seen="a batch at 5")
    assert list(wrong_stable_offsets([one], leaked)) == [(1, told)]


def test_the_start_of_an_open_transaction_is_the_one_that_it_was_shown_with_first() -> None:
    one = run(INIT, WRITE, asked=WRITE)
    for request, answer in ((INIT, ModelAnswer("NONE", 0, 0)), (WRITE, ModelAnswer())):
        one.take(request, answer)
    shown = described(state="Ongoing", started=40)
    one.note_starts({"x": shown})
    one.take(WRITE, ModelAnswer())
    one.note_starts({})  # the batch notes behind every round, the last one too

    def start(now: DescribedTransaction) -> SeenStart:
        seen = one.seen(replace(LOOK, ids={"x": now}))
        assert seen is not None
        return seen.ids["own"].start

    assert start(shown) is SeenStart.KEPT
    assert start(described(state="Ongoing", started=41)) is SeenStart.MOVED
    assert start(described(state="Ongoing", started=-1)) is SeenStart.MISSING
    assert start(described(state="CompleteCommit", started=-1)) is SeenStart.KEPT


def test_another_transaction_begins_at_another_time() -> None:
    one = run(INIT, WRITE)
    for request, answer in ((INIT, ModelAnswer("NONE", 0, 0)), (WRITE, ModelAnswer())):
        one.take(request, answer)
    one.note_starts({"x": described(state="Ongoing", started=40)})
    one.take(COMMIT, ModelAnswer("NONE", 0, 1))
    seen = one.seen(replace(LOOK, ids={"x": described(state="Ongoing", started=41)}))
    assert seen is not None
    assert seen.ids["own"].start is SeenStart.KEPT


def described(*, state: str, started: int) -> DescribedTransaction:
    shown = LOOK.ids["x"].copy()
    shown["state"], shown["start_time_ms"] = state, started
    return shown


def test_a_last_stable_offset_that_passes_an_open_transaction_is_told() -> None:
    one = committed()
    opened = {("t", 0): {7000: producer(current_txn_start_offset=5)}, ("t", 1): {}}
    passed = replace(LOOK, producers=opened)
    assert list(wrong_stable_offsets([one], passed)) == [(1, Difference(part="LSO of A", expected="5", seen="10"))]
    assert list(wrong_stable_offsets([one], replace(passed, stable={**LOOK.stable, ("t", 0): 5}))) == []
