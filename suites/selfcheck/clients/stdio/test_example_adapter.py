"""The adapter that vendors begin from keeps to the protocol, and runs as its own page says."""

import sys
from pathlib import Path

import pytest

from harness.base.paths import ROOT
from harness.clients.stdio.adapter_check import TRIALS, check_adapter
from harness.clients.stdio.adapter_name import adapter_command
from harness.clients.toolchains.program import PROGRAMS

EXAMPLE = PROGRAMS / "example" / "example_adapter.py"
SMALLEST = PROGRAMS / "example" / "smallest_adapter.py"


@pytest.mark.parametrize("example", [EXAMPLE, SMALLEST], ids=lambda path: path.stem)
def test_an_example_passes_every_trial_as_it_is_run_by_a_user(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    results = list(check_adapter(adapter_command(str(example), print)))
    assert [result.wrong for result in results] == [""] * len(TRIALS)


def test_the_smallest_has_sixty_lines() -> None:
    assert len(SMALLEST.read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("page", ["README.md", "harness/clients/stdio/PROTOCOL.md"])
def test_pages_point_at_the_example(page: str) -> None:
    assert EXAMPLE.name in (ROOT / page).read_text(encoding="utf-8")
