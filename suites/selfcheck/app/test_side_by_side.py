"""Requirements beside each other, on one cluster and on two: who takes part, who waits for all others, and the end."""

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from harness.app import side_by_side
from harness.app.contract_session import ContractOptions
from harness.app.side_by_side import SideBySide, second_cluster_thread
from harness.base.paths import CONTRACT
from harness.cluster.cluster import Cluster
from harness.cluster.run_options import RunOptions
from harness.contract import Access, Order, OwnCluster, Requirement, Status, Verdict
from harness.contract.catalogue.requirement_catalogue import load
from harness.lab import Lab
from harness.run import Run

ANY = load(CONTRACT / "kip890" / "feature_level" / "transaction_version_is_advertised.py")[0].requirement
RUN = cast(Run, SimpleNamespace(options=SimpleNamespace(target="kafka:4.3.1"), offered=None))
THEIRS = cast(Run, SimpleNamespace(options=SimpleNamespace(target="external:a:1"), offered=None))


def of(name: str, **changes: object) -> Requirement[Lab]:
    return replace(ANY, id=f"KIP890-{name}-01", order=Order.CALM, access=(), **changes)  # type: ignore[arg-type]


CALM, OTHER, LAST = of("CALM"), of("OTHER"), replace(of("LAST"), access=(Access.LANES,))
AWAY = of("AWAY", cluster=OwnCluster(fresh="away"))
APART = replace(AWAY, id="KIP890-APART-01", access=(Access.LANES,))


class FakeExamination:
    """Stands for ``examine``: notes who is being tried, and blocks until it may go on."""

    def __init__(self) -> None:
        self.now: set[str] = set()
        self.together: dict[str, set[str]] = {}
        self.opened: list[OwnCluster | None] = []
        self.lacking: set[str] = set()
        self.go = threading.Event()
        self.both = threading.Barrier(2)
        self.meeting: set[str] = set()
        self.where: list[tuple[str, Run]] = []
        self.second = cast(Run, SimpleNamespace(cluster=None, wish=None, offered=None))
        self.closed: list[Run] = []

    def examine(self, run: Run, requirement: Requirement[Lab]) -> Verdict:
        self.where.append((requirement.id, run))
        run.wish = requirement.cluster
        self.now.add(requirement.id)
        if requirement.id in self.meeting:
            self.both.wait(10)
        self.together[requirement.id] = set(self.now)
        if requirement.id in self.meeting:
            self.both.wait(10)
        self.now.discard(requirement.id)
        return Verdict(id=requirement.id, level=requirement.level, status=Status.HOLDS)

    def untried(self, _run: Run, requirement: Requirement[Lab]) -> Verdict | None:
        """Stands for the function of that name: some are known not to be offered."""
        return cast(Verdict, "not offered") if requirement.id in self.lacking else None

    def open_target(self, _run: Run, wish: OwnCluster | None = None) -> None:
        self.opened.append(wish)

    def verdicts(self, *due: Requirement[Lab], run: Run = RUN, jobs: int = 3, clusters: int = 2) -> Sequence[str]:
        """The ids of the verdicts in the order in which they were asked for; everything has ended."""
        beside = SideBySide(requirements=due, jobs=jobs, clusters=clusters)
        try:
            return [beside.verdict(run, each).id for each in due]
        finally:
            beside.stop()

    def tried(self) -> Iterator[str]:
        return (name for name, _ in self.where)


@pytest.fixture(name="examined")
def _examined(monkeypatch: pytest.MonkeyPatch) -> FakeExamination:
    made = FakeExamination()
    monkeypatch.setattr(side_by_side, "beside", lambda _run: made.second)
    monkeypatch.setattr(side_by_side, "close_beside", made.closed.append)
    monkeypatch.setattr(side_by_side, "examine", made.examine)
    monkeypatch.setattr(side_by_side, "open_target", made.open_target)
    monkeypatch.setattr(side_by_side, "untried", made.untried)
    return made


def test_calm_ones_are_tried_together_and_who_holds_a_lane_waits_for_them(examined: FakeExamination) -> None:
    examined.meeting = {CALM.id, OTHER.id}
    assert examined.verdicts(CALM, OTHER, LAST, jobs=2, clusters=2) == [CALM.id, OTHER.id, LAST.id]
    assert examined.together[CALM.id] == {CALM.id, OTHER.id}
    assert examined.together[LAST.id] == {LAST.id}


def test_who_asks_for_another_cluster_is_begun_on_that_one(examined: FakeExamination) -> None:
    examined.meeting = {CALM.id, OTHER.id}
    examined.verdicts(CALM, OTHER, AWAY)
    assert examined.together[AWAY.id] == {AWAY.id}
    assert examined.opened == [None, AWAY.cluster]


def test_a_cluster_on_which_nothing_can_be_tried_is_not_started(examined: FakeExamination) -> None:
    examined.lacking |= {AWAY.id, LAST.id, APART.id}
    assert examined.verdicts(LAST, AWAY, APART) == [LAST.id, AWAY.id, APART.id]
    assert examined.opened == []


def test_one_job_means_one_after_another_on_one_cluster_at_a_time(examined: FakeExamination) -> None:
    examined.verdicts(LAST, AWAY, APART, jobs=1)
    assert examined.where == [(each.id, RUN) for each in (LAST, AWAY, APART)]
    assert examined.together == {each.id: {each.id} for each in (LAST, AWAY, APART)}
    assert (examined.opened, examined.closed) == ([], [])


def test_who_must_be_alone_is_tried_beside_one_on_a_second_cluster(examined: FakeExamination) -> None:
    examined.meeting = {LAST.id, APART.id}
    examined.verdicts(LAST, APART)
    assert dict(examined.where) == {LAST.id: RUN, APART.id: examined.second}
    assert examined.together[LAST.id] == {LAST.id, APART.id}
    assert examined.opened == [None, APART.cluster], "the first cluster is up before a second one is begun"
    assert examined.closed == [examined.second]


def test_what_the_target_offers_is_learned_before_a_second_run_needs_it(examined: FakeExamination) -> None:
    upgraded = replace(APART, id="KIP890-UPGRADED-01", cluster=OwnCluster(metadata="3.9"))
    examined.verdicts(APART, upgraded)
    assert examined.opened[:2] == [None, APART.cluster]


def test_a_second_cluster_is_begun_when_nobody_is_beside_others_on_the_first(examined: FakeExamination) -> None:
    examined.meeting = {CALM.id, OTHER.id}
    examined.verdicts(CALM, OTHER, LAST, APART)
    assert examined.together[CALM.id] == {CALM.id, OTHER.id}
    assert list(examined.tried()).index(APART.id) > 1


def test_clusters_of_their_own_are_up_beside_all_where_that_is_wanted(examined: FakeExamination) -> None:
    examined.meeting = {CALM.id, APART.id}
    beside = SideBySide(requirements=(CALM, APART), jobs=2, clusters=2, own_beside_all=True)
    assert [beside.verdict(RUN, each).id for each in (CALM, APART)] == [CALM.id, APART.id]
    beside.stop()
    assert examined.together[APART.id] == {CALM.id, APART.id}
    assert dict(examined.where)[APART.id] is examined.second


def test_of_several_that_share_a_helper_one_has_a_second_cluster(examined: FakeExamination) -> None:
    helper, away = second_cluster_thread(), [replace(APART, id=f"KIP890-AWAY-{number}") for number in range(4)]
    pairs = [(replace(CALM, id=f"KIP890-CALM-{number}"), one) for number, one in enumerate(away)]
    shared = [SideBySide(requirements=pair, jobs=2, clusters=2, own_beside_all=True, helper=helper) for pair in pairs]
    for beside, (calm, _) in zip(shared, pairs, strict=True):
        assert beside.verdict(RUN, calm).id == calm.id
    for beside, (_, one) in zip(shared, pairs, strict=True):
        assert beside.verdict(RUN, one).id == one.id
    for beside in shared:
        beside.stop()
    assert sorted(examined.tried()) == sorted(each.id for pair in pairs for each in pair)
    on_second = {name for name, run in examined.where if run is examined.second}
    assert all(examined.together[name] & on_second == {name} for name in on_second)


def test_each_is_tried_once_however_they_are_shared(examined: FakeExamination) -> None:
    many = [replace(LAST, id=f"KIP890-LAST-{number:02}") for number in range(40)]
    away = [replace(APART, id=f"KIP890-AWAY-{number}", cluster=OwnCluster(fresh=str(number))) for number in range(9)]
    assert examined.verdicts(*many, *away) == [each.id for each in (*many, *away)]
    assert sorted(examined.tried()) == sorted(each.id for each in (*many, *away))


def test_on_a_cluster_that_is_not_ours_there_is_no_second(examined: FakeExamination) -> None:
    examined.verdicts(LAST, APART, run=THEIRS)
    assert examined.where == [(LAST.id, THEIRS), (APART.id, THEIRS)]


def test_the_command_that_does_a_run_again_tries_as_many_at_a_time(tmp_path: Path) -> None:
    options = ContractOptions(run=RunOptions(target="kafka:4.3.1", folder=tmp_path), jobs=3)
    assert "--jobs 3" in options.command("kafka:4.3.1")


def test_what_a_stimulus_raises_reaches_its_own_item(
    examined: FakeExamination, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_run: Run, requirement: Requirement[Lab]) -> Verdict:
        raise LookupError(requirement.id)

    monkeypatch.setattr(side_by_side, "examine", crash)
    beside = SideBySide(requirements=(CALM, LAST, APART), jobs=2, clusters=2)
    for each in (CALM, LAST, APART):
        with pytest.raises(LookupError, match=each.id):
            beside.verdict(RUN, each)
    beside.stop()
    assert not examined.now


def test_what_a_start_raises_reaches_who_needs_the_cluster(
    examined: FakeExamination, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_run: Run, wish: OwnCluster | None = None) -> None:
        if wish is not None:
            raise LookupError(str(wish))

    monkeypatch.setattr(side_by_side, "open_target", refuse)
    beside = SideBySide(requirements=(LAST, AWAY), jobs=2, clusters=2)
    assert beside.verdict(RUN, LAST).id == LAST.id
    with pytest.raises(LookupError, match="away"):
        beside.verdict(RUN, AWAY)
    beside.stop()
    assert list(examined.tried()) == [LAST.id]


def test_an_end_ends_the_second_cluster_and_begins_nothing_more(examined: FakeExamination) -> None:
    cluster, more = SimpleNamespace(close=examined.go.set), replace(APART, id="KIP890-APART-02")
    begun = threading.Event()

    def lasting(run: Run, requirement: Requirement[Lab]) -> Verdict:
        if requirement is APART:
            run.cluster = cast(Cluster, cluster)
            begun.set()
            examined.go.wait(10)  # as a stimulus waits for a broker, which goes away with its cluster
        return FakeExamination.examine(examined, run, requirement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_by_side, "examine", lasting)
        beside = SideBySide(requirements=(LAST, APART, more), jobs=2, clusters=2)
        beside.verdict(RUN, LAST)
        assert begun.wait(10)
        beside.stop()
    assert sorted(examined.tried()) == sorted([LAST.id, APART.id])
    assert examined.closed == [examined.second]


def test_with_one_cluster_at_a_time_there_is_no_second(examined: FakeExamination) -> None:
    examined.verdicts(LAST, AWAY, APART, clusters=1)
    assert examined.where == [(each.id, RUN) for each in (LAST, AWAY, APART)]
    assert examined.closed == []


@pytest.mark.parametrize(("processors", "clusters"), [(None, 1), (1, 1), (2, 2), (64, 2)])
def test_a_second_cluster_is_usual_where_there_are_processors_for_it(
    processors: int | None, clusters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert side_by_side.usual_clusters() == clusters
