"""An exploration that goes on behind another one keeps what that had compared, and refuses what it cannot."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.seed import Seed
from harness.base.user_error import ExitCode, UserError
from harness.cluster.run_options import RunOptions
from harness.evidence.json_codec import to_json_lines
from harness.evidence.run_folder import RunFolder
from harness.explore.cell_results import CellOutcome, CellResult, Difference
from harness.explore.explore_options import ExploreOptions, read_earlier_cells
from harness.explore.findings import CELLS, SEEN, Findings

WRONG = Difference(part="answer", expected="NONE", seen="PRODUCER_FENCED")


def options(folder: Path, **given: object) -> ExploreOptions:
    run = RunOptions(target="kafka:4.3.1", folder=folder, backend="process", seed=Seed(9))
    return replace(ExploreOptions(run=run), **given)  # type: ignore[arg-type]


def result(cell: int, *differences: Difference) -> CellResult:
    outcome = CellOutcome.DIFFERS if differences else CellOutcome.AGREES
    return CellResult(cell=cell, state="Empty", request="EndTxn", outcome=outcome, steps=2, differences=differences)


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """The folder of an exploration that ended within its third cell."""
    given = options(tmp_path / "earlier", slow=True, limit=700)
    folder = RunFolder.create(given.run.folder, given.described())
    (folder.path / CELLS).write_bytes(to_json_lines([result(4), result(2, WRONG)]) + b'{"cell": 3, "sta')
    (folder.path / SEEN).write_text('{"cell": 4}\n{"cell": 2}\n{"ce', encoding="utf-8")
    return folder.path


def test_seed_and_cells_are_those_of_the_folder(earlier: Path, tmp_path: Path) -> None:
    given = options(tmp_path / "now", resume=earlier)
    given = replace(given, run=replace(given.run, seed=Seed(1)))
    continued = given.continued()
    assert (continued.run.seed, continued.limit, continued.slow) == (Seed(9), 700, True)
    assert options(tmp_path / "now").continued() == options(tmp_path / "now")
    assert str(earlier) in given.command()


def test_what_was_compared_is_kept_but_for_a_torn_line(earlier: Path, tmp_path: Path) -> None:
    read = read_earlier_cells(earlier)
    assert read.results.keys() == {4, 2}
    found = Findings(folder=tmp_path)
    found.keep_earlier(read.results.values(), read.seen)
    assert found.counts == {CellOutcome.AGREES: 1, CellOutcome.DIFFERS: 1}
    assert [each.cell for each in found.unexplained()] == [2]
    assert [json.loads(line)["cell"] for line in (tmp_path / CELLS).read_text().splitlines()] == [4, 2]
    assert len((tmp_path / SEEN).read_text().splitlines()) == 2


def test_a_line_in_the_middle_that_is_malformed_is_one_sentence(earlier: Path) -> None:
    (earlier / CELLS).write_text('{"cell": 1}\n', encoding="utf-8")
    with pytest.raises(UserError, match="line 1") as raised:
        read_earlier_cells(earlier)
    assert raised.value.exit is ExitCode.EVIDENCE_UNREADABLE


@pytest.mark.parametrize("given", [{"target": "kafka:3.9.2"}, {"walk_seconds": 60.0}])
def test_another_target_or_walks_are_not_gone_on_with(earlier: Path, tmp_path: Path, given: dict[str, object]) -> None:
    now = options(tmp_path / "now", resume=earlier)
    if target := given.pop("target", None):
        now = replace(now, run=replace(now.run, target=str(target)))
    with pytest.raises(UserError, match="does not go on with") as raised:
        replace(now, **given).continued()  # type: ignore[arg-type]
    assert raised.value.exit is ExitCode.USAGE


def test_a_folder_of_no_exploration_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run folder"):
        options(tmp_path / "now", resume=tmp_path).continued()
