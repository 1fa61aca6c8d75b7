"""Requirements beside each other: who takes part, who waits for all others, and that an end begins nothing more."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from harness.app import side_by_side
from harness.app.contract_session import ContractOptions
from harness.app.side_by_side import SideBySide
from harness.base.paths import CONTRACT
from harness.cluster.run_options import RunOptions
from harness.contract import Access, Order, OwnCluster, Requirement, Status, Verdict
from harness.contract.catalogue.requirement_catalogue import load
from harness.lab import Lab
from harness.run import Run

ANY = load(CONTRACT / "kip890" / "feature_level" / "transaction_version_is_advertised.py")[0].requirement
RUN = cast(Run, None)


def of(name: str, **changes: object) -> Requirement[Lab]:
    return replace(ANY, id=f"KIP890-{name}-01", order=Order.CALM, access=(), **changes)  # type: ignore[arg-type]


CALM, OTHER, LAST = of("CALM"), of("OTHER"), replace(of("LAST"), access=(Access.LANES,))
AWAY = of("AWAY", cluster=OwnCluster(fresh="away"))


class FakeExamination:
    """Stands for ``examine``: notes who is being tried, and blocks until it may go on."""

    def __init__(self) -> None:
        self.now: set[str] = set()
        self.together: dict[str, set[str]] = {}
        self.opened: list[OwnCluster | None] = []
        self.lacking: set[str] = set()
        self.go = threading.Event()
        self.both = threading.Barrier(2)

    def examine(self, _run: Run, requirement: Requirement[Lab]) -> Verdict:
        self.now.add(requirement.id)
        if requirement in (CALM, OTHER):
            self.both.wait(10)
        self.together[requirement.id] = set(self.now)
        if requirement in (CALM, OTHER):
            self.both.wait(10)
        self.now.discard(requirement.id)
        return Verdict(id=requirement.id, level=requirement.level, status=Status.HOLDS)

    def untried(self, _run: Run, requirement: Requirement[Lab]) -> Verdict | None:
        """Stands for the function of that name: some are known not to be offered."""
        return cast(Verdict, "not offered") if requirement.id in self.lacking else None

    def open_target(self, _run: Run, wish: OwnCluster | None) -> None:
        self.opened.append(wish)


@pytest.fixture(name="examined")
def _examined(monkeypatch: pytest.MonkeyPatch) -> FakeExamination:
    made = FakeExamination()
    monkeypatch.setattr(side_by_side, "examine", made.examine)
    monkeypatch.setattr(side_by_side, "open_target", made.open_target)
    monkeypatch.setattr(side_by_side, "untried", made.untried)
    return made


def test_calm_ones_are_tried_together_and_who_holds_a_lane_waits_for_them(examined: FakeExamination) -> None:
    beside = SideBySide(requirements=(CALM, OTHER, LAST), jobs=2)
    assert [beside.verdict(RUN, each).id for each in (CALM, OTHER, LAST)] == [CALM.id, OTHER.id, LAST.id]
    assert examined.together[CALM.id] == {CALM.id, OTHER.id}
    assert examined.together[LAST.id] == {LAST.id}
    beside.stop()


def test_who_asks_for_another_cluster_is_begun_on_that_one(examined: FakeExamination) -> None:
    beside = SideBySide(requirements=(CALM, OTHER, AWAY), jobs=3)
    beside.verdict(RUN, CALM)
    assert AWAY.id not in examined.together
    beside.verdict(RUN, AWAY)
    assert examined.opened == [None, AWAY.cluster]
    beside.stop()


def test_a_cluster_on_which_nothing_can_be_tried_is_not_started(examined: FakeExamination) -> None:
    examined.lacking.add(AWAY.id)
    beside = SideBySide(requirements=(AWAY,), jobs=3)
    assert beside.verdict(RUN, AWAY).id == AWAY.id
    assert examined.opened == []
    beside.stop()


def test_one_job_means_one_after_another(examined: FakeExamination) -> None:
    beside = SideBySide(requirements=(LAST, AWAY), jobs=1)
    for each in (LAST, AWAY):
        beside.verdict(RUN, each)
        assert examined.together[each.id] == {each.id}
    assert examined.opened == []


def test_the_command_that_does_a_run_again_tries_as_many_at_a_time(tmp_path: Path) -> None:
    options = ContractOptions(run=RunOptions(target="kafka:4.3.1", folder=tmp_path), jobs=3)
    assert "--jobs 3" in options.command("kafka:4.3.1")


def test_what_a_stimulus_raises_reaches_its_own_item(
    examined: FakeExamination, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_run: Run, requirement: Requirement[Lab]) -> Verdict:
        raise LookupError(requirement.id)

    monkeypatch.setattr(side_by_side, "examine", crash)
    beside = SideBySide(requirements=(CALM,), jobs=2)
    with pytest.raises(LookupError, match=CALM.id):
        beside.verdict(RUN, CALM)
    beside.stop()
    assert not examined.now
