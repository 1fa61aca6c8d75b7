"""A coordinator that is asked while it loads: what the model says, and that only what it answered then counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from msgspec.structs import replace

from harness.base.kafka_error import KafkaError
from harness.explore.asker import Asker, Outgoing
from harness.explore.cell_identities import CellIdentities
from harness.explore.cell_run import CellRun
from harness.explore.events import loading_coordinators
from harness.explore.events.loading_coordinators import (
    LOADED_MEANWHILE,
    LONG,
    NOT_LOADING,
    LoadingCoordinators,
)
from harness.explore.events.moved_leaders import MovedLeaders
from harness.explore.explored_cluster import GROUPS_TOPIC, ExploredCluster, PartitionPool
from harness.model.alphabet import OTHER, OWN
from harness.model.events.model_event import CoordinatorLoads, ModelStep, after_event, after_path
from harness.model.events.slow_cells import slow_cells
from harness.model.grid import GridCell
from harness.model.model_requests import (
    AddPartitionsAsked,
    DescribeTransactionAsked,
    InitProducerIdAsked,
    ListedPattern,
    ListTransactionsAsked,
    ModelRequest,
    TxnOffsetCommitAsked,
    WriteMarkerAsked,
)
from harness.model.model_state import ModelCluster, fresh_cluster
from harness.model.protocol_profile import NEWEST
from harness.model.protocol_step import outcomes, settled
from harness.wire.api_request import ApiResult
from harness.wire.api_results import PartitionErrors
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import NoAnswer, WireError
from suites.model.test_events import OFFERED
from suites.selfcheck.explore.test_slow_cells import COMMIT, INIT, WRITE
from suites.selfcheck.explore.test_stale_routes import explored
from suites.selfcheck.fixtures.fake_kafka import FakeKafka

LOADING = "COORDINATOR_LOAD_IN_PROGRESS"


def loading(*path: ModelStep) -> ModelCluster:
    return after_path(fresh_cluster("A", "B"), (*path, CoordinatorLoads()), NEWEST)


def answer(asked: ModelRequest, *path: ModelStep) -> str:
    (outcome,) = outcomes(loading(*path), asked, NEWEST)
    return outcome.answer.error


DESCRIBED = DescribeTransactionAsked(id=OWN)
LISTED = ListTransactionsAsked(id=OWN, version=2, producer_id=0)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (INIT, LOADING),
        (InitProducerIdAsked(id=OWN, version=4, timeout_ms=0), "INVALID_TRANSACTION_TIMEOUT"),
        (InitProducerIdAsked(id="", version=4), "INVALID_REQUEST"),
        (AddPartitionsAsked(id=OWN, version=3, producer_id=0, epoch=0, partitions=frozenset("A")), LOADING),
        (COMMIT, LOADING),
        (DESCRIBED, LOADING),
        (replace(DESCRIBED, elsewhere=True), "NOT_COORDINATOR"),
        (replace(DESCRIBED, names_none=True), "NONE"),
        (LISTED, LOADING),
        (replace(LISTED, pattern=ListedPattern.INVALID), LOADING),
        (replace(WRITE, sequence=1), "NONE"),
        (replace(WRITE, partition="B"), "NOT_ENOUGH_REPLICAS"),
        (replace(WRITE, version=9, partition="B"), "NOT_ENOUGH_REPLICAS"),
    ],
)
def test_who_loads_says_so_and_leaders_go_on_with_what_they_know(asked: ModelRequest, error: str) -> None:
    assert answer(asked, INIT, WRITE) == error


def test_nothing_is_done_while_a_coordinator_loads_and_then_it_knows_what_it_knew() -> None:
    before = loading(INIT, WRITE)
    (outcome,) = outcomes(before, COMMIT, NEWEST)
    after = settled(outcome.after, NEWEST)
    assert after.ids[OWN] == settled(before, NEWEST).ids[OWN]
    assert not after.loading
    assert outcomes(after, COMMIT, NEWEST)[0].answer.error == "NONE"


def test_another_coordinator_has_another_epoch_once_it_has_loaded() -> None:
    start = after_path(fresh_cluster("A", "B"), (INIT,), NEWEST)
    assert after_event(start, CoordinatorLoads(), NEWEST).coordinator_epoch == start.coordinator_epoch + 1


def test_a_marker_needs_no_coordinator() -> None:
    marker = WriteMarkerAsked(
        version=2, partition="A", producer_id=0, epoch=1, coordinator_epoch=0, commit=True, level=2
    )
    assert answer(marker, INIT, WRITE) == "NONE"


def test_what_groups_make_of_it_is_not_asked() -> None:
    cells = [each for each in slow_cells(NEWEST, OFFERED) if CoordinatorLoads() in each.path]
    assert len(cells) > 1_000
    assert all(each.path[-1] == CoordinatorLoads() for each in cells)
    assert not any(isinstance(each.asked, TxnOffsetCommitAsked) for each in cells)


def test_ids_that_are_asked_while_one_partition_loads_are_kept_by_it() -> None:
    cluster = a_cluster()
    pool = PartitionPool(topic="t", topic_id=None, leaders={("t", each): 1 for each in range(4)}, kept_by=0)
    for who in cluster.identities([1, 2, 3], pool):
        assert [cluster.state_place(who.ids[name])[1] for name in (OWN, OTHER)] == [0, 0]


@pytest.mark.parametrize("kept_by", [None, 0])
def test_a_cell_that_is_asked_again_meets_nothing_that_it_left_before(kept_by: int | None) -> None:
    cluster, leaders = a_cluster(), {("t", each): 1 for each in range(4)}
    pool = PartitionPool(topic="t", topic_id=None, leaders=leaders, groups={(GROUPS_TOPIC, 0): 1}, kept_by=kept_by)
    asked = [who for _ in range(3) for who in cluster.identities([1, 2], pool)]
    names = [name for who in asked for name in (*who.ids.values(), who.group)]
    nobodys = [who.producer_id(symbol) for who in asked for symbol in (7, 8)]
    assert all(names)
    assert (len({*names}), len({*nobodys})) == (len(names), len(nobodys))


def a_cluster() -> ExploredCluster:
    """That keeps ids in three partitions, the first of them led by broker 1."""
    return explored(FakeKafka(coordinator_of=lambda _: 1, state_leaders=(1, 2, 1)))


@dataclass(slots=True)
class FakeAsker:
    """Answers with these errors, in turn; None for nothing."""

    errors: list[int | None] = field(default_factory=list)
    asked: list[Outgoing] = field(default_factory=list)

    def ask(self, requests: Sequence[Outgoing]) -> list[ApiResult | WireError]:
        self.asked += requests
        return [self._one() for _ in requests]

    def _one(self) -> ApiResult | WireError:
        error = self.errors.pop(0)
        return NoAnswer("gone") if error is None else PartitionErrors(error=error, partitions={"t-0": error})


@dataclass(slots=True)
class FakeMoves:
    known: list[Mapping[tuple[str, int], int]] = field(default_factory=list)

    def begin(self, _places: object) -> Mapping[tuple[str, int], int]:
        return {LONG: 1}

    def await_known(self, leaders: Mapping[tuple[str, int], int]) -> None:
        self.known.append(leaders)


def a_run(number: int) -> CellRun:
    cell = GridCell(path=(INIT, CoordinatorLoads()), before=loading(INIT), asked=COMMIT, state="", request="")
    ids = {OWN: f"own-{number}", OTHER: f"other-{number}"}
    who = CellIdentities(number=number, ids=ids, places={"A": ("t", 0)}, coordinator_epochs={OWN: 0})
    return CellRun(number=number, cell=cell, who=who, profile=NEWEST)


LOADS = KafkaError.COORDINATOR_LOAD_IN_PROGRESS
LOADED = KafkaError.INVALID_PRODUCER_ID_MAPPING


def test_only_what_was_loading_before_and_after_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    awaited: list[Any] = []
    monkeypatch.setattr(loading_coordinators, "await_loaded", awaited.append)
    before = [KafkaError.NOT_COORDINATOR, LOADS, LOADS, LOADED, LOADS, LOADS]
    asker, moves, runs = FakeAsker([*before, LOADS, LOADED, None]), FakeMoves(), [a_run(each) for each in range(4)]
    cluster = a_cluster()
    cluster.asker = cast(Asker, asker)
    one = LoadingCoordinators(
        cluster=cluster, moved=cast(MovedLeaders, moves), connect=lambda _: cast(WireClient, None)
    )
    one.begin(runs)
    assert [run.missed for run in runs] == [None, NOT_LOADING, None, None]
    assert {cast(Any, each.request).producer_id for each in asker.asked} == {runs[0].who.nobodys}, "it changes nothing"
    one.end(runs)
    assert [run.missed for run in runs] == [None, NOT_LOADING, LOADED_MEANWHILE, LOADED_MEANWHILE]
    assert (moves.known, awaited, asker.errors) == ([{LONG: 1}], [cluster], [])
    one.end(runs)
    assert len(awaited) == 1, "nothing loads any more"
