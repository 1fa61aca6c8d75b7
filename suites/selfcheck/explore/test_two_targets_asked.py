"""``fencepost compare`` of two targets that do as the model says, each by a profile of its own: cells are left out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from harness.app.model.comparing import CompareOptions, compare_targets
from harness.base.seed import Seed
from harness.base.user_error import ExitCode
from harness.cluster.run_options import RunOptions
from harness.evidence.run_folder import RunFolder
from harness.explore.cell_results import CellExchange, CellOutcome, CellResult, CellSeen, Difference
from harness.explore.comparison import compare, expected_id, expected_offset
from harness.explore.explore_options import ExploreOptions
from harness.explore.findings import Findings, FreshResult
from harness.explore.walks import same_walks
from harness.explore.walks.drawn_walks import drawn_walks
from harness.model.alphabet import OTHER, OWN
from harness.model.events.model_event import ModelEvent, after_step
from harness.model.grid import GridCell
from harness.model.model_requests import ModelRequest
from harness.model.model_state import GROUP, fresh_cluster
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, UNDEFENDED, ProtocolProfile
from harness.model.protocol_step import outcomes, settled
from suites.model.test_model_by_itself import OFFERED
from suites.model.test_refuted import shown_log

OLD_APIS = {**OFFERED, "Produce": (3, 11), "TxnOffsetCommit": (0, 4), "EndTxn": (0, 4)}
NEW_APIS = {**OFFERED, "Produce": (3, 12)}
TARGETS = {
    "kafka:old": (OLD_PROTOCOL, OLD_APIS),
    "kafka:older": (UNDEFENDED, OLD_APIS),
    "kafka:other-groups": (replace(OLD_PROTOCOL, new_group_coordinator=True), NEW_APIS),
    "kafka:new": (NEWEST, NEW_APIS),
    "kafka:again": (NEWEST, NEW_APIS),
}


@dataclass(kw_only=True)
class PretendedExploration:
    """Asks no broker: the model answers, by the profile of the target."""

    options: ExploreOptions
    folder: RunFolder
    does: ProtocolProfile
    offer: Any

    def profile(self) -> ProtocolProfile:
        return self.options.profile or self.does

    def explore(self, numbered: Sequence[tuple[int, GridCell]], profile: ProtocolProfile, found: Findings) -> None:
        found.add([self._result(number, cell, profile) for number, cell in numbered])

    def lost(self, compared: int, why: str) -> NoReturn:
        raise AssertionError(f"lost after {compared}: {why}")

    def _result(self, number: int, cell: GridCell, profile: ProtocolProfile) -> FreshResult:
        expected = real = fresh_cluster(*sorted(cell.before.logs))
        exchanges: list[CellExchange] = []
        for step, one in enumerate(cell.path, start=1):
            if not isinstance(one, ModelEvent):
                told, seen = (
                    outcomes(state, one, by)[0].answer for state, by in ((expected, profile), (real, self.does))
                )
                exchanges.append(self._exchange(one, seen.error))
                if told != seen:
                    strayed = Difference(part=f"step {step}", expected=str(told), seen=str(seen))
                    return FreshResult(self._told(number, cell, (strayed,), exchanges), None, cell.path[:step])
            expected = after_step(expected, one, profile, held=False)
            real = after_step(real, one, self.does, held=False)
        outcome = outcomes(real, cell.asked, self.does)[0]
        after = settled(outcome.after, self.does)
        shown = CellSeen(
            answer=outcome.answer,
            ids={name: expected_id(after, name) for name in (OWN, OTHER)},
            logs={name: shown_log(log) for name, log in after.logs.items()},
            groups={GROUP: expected_offset(after, GROUP)},
        )
        exchanges.append(self._exchange(cell.asked, outcome.answer.error))
        return FreshResult(self._told(number, cell, compare(cell.before, cell.asked, profile, shown), exchanges))

    def _exchange(self, asked: ModelRequest, answered: str) -> CellExchange:
        return CellExchange(asked=str(asked), sent="", node=1, version=asked.version, answered=answered)

    def _told(
        self, number: int, cell: GridCell, differences: tuple[Difference, ...], exchanges: Sequence[CellExchange]
    ) -> CellResult:
        return CellResult(
            cell=number,
            state=cell.state,
            request=cell.request,
            outcome=CellOutcome.DIFFERS if differences else CellOutcome.AGREES,
            steps=len(cell.path),
            differences=differences,
            exchanges=tuple(exchanges) if differences else (),
        )


@pytest.fixture(autouse=True)
def _pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(options: ExploreOptions) -> Iterator[PretendedExploration]:
        does, apis = TARGETS[options.run.target]
        folder = RunFolder.create(options.run.folder, options.described())
        yield PretendedExploration(options=options, folder=folder, does=does, offer=SimpleNamespace(apis=apis))

    monkeypatch.setattr(same_walks, "open_exploration", opened)
    monkeypatch.setattr(same_walks, "explore_cells", lambda _exploration: ExitCode.KEPT)
    monkeypatch.setattr(same_walks, "walks_of_round", lambda seed, number: drawn_walks(seed + number, 200))


def compared(first: str, second: str, folder: Path) -> tuple[ExitCode, Sequence[Mapping[str, Any]]]:
    """The exit code, and the walks that are kept."""
    run = RunOptions(target=first, folder=folder, seed=Seed(8))
    code = compare_targets(CompareOptions(run=run, second=second, walk_seconds=0))
    return code, [json.loads(line) for line in (folder / "walks.jsonl").read_text(encoding="utf-8").splitlines()]


def test_two_that_do_the_same_differ_in_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared("kafka:new", "kafka:again", tmp_path) == (ExitCode.KEPT, [])
    told = capsys.readouterr().out
    assert "walks of kafka:new and kafka:again compared: 0 differ, 0 more were reached" in told
    assert "0 walks that were cut" in told
    assert not (tmp_path / "first-again").exists()


def test_what_the_second_lacks_is_cut_there_and_asked_of_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, kept = compared("kafka:old", "kafka:older", tmp_path)
    assert code is ExitCode.BROKEN
    assert min(len(walk["steps"]) for walk in kept) <= 3
    assert [len(walk["steps"]) for walk in kept] == sorted(len(walk["steps"]) for walk in kept)
    assert "own.produce(" in capsys.readouterr().out
    assert "Walks cut to the shortest" in (tmp_path / "compared.html").read_text(encoding="utf-8")


def test_a_refused_offset_that_takes_another_with_it_is_cut_to_its_shortest_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, kept = compared("kafka:old", "kafka:other-groups", tmp_path)
    assert code is ExitCode.BROKEN
    assert [step["action"] for step in kept[0]["steps"]][-2:] == ["commit offset", "commit offset"]
    assert len(kept[0]["steps"]) <= 5
    told = capsys.readouterr().out
    assert "offset of G: kafka:old shows" in told
    assert "does not offer" not in told


def test_a_second_that_lacks_the_new_protocol_is_asked_every_walk_of_the_old_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, kept = compared("kafka:new", "kafka:old", tmp_path)
    assert code is ExitCode.BROKEN
    assert "walks: the target does not offer a message of it" in capsys.readouterr().out
    assert kept
