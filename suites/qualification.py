"""A qualification in a process of its own, as a person would start it, and the verdicts of its report."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.paths import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Qualification:
    """What came of it.

    :param seconds: Of the whole command.
    :param verdicts: As in ``report.json``.
    """

    exit_code: int
    seconds: float
    verdicts: Sequence[Mapping[str, Any]]


def qualification(words: Sequence[str], folder: Path) -> Qualification:
    """Run ``fencepost qualify`` with these words into ``folder/run``; its output goes to ``folder/output.txt``.

    :raises RuntimeError: When there is no report, with the last line of the output.
    """
    command: list[str | Path] = [sys.executable, "-m", "harness", "qualify", *words, "--report-dir", folder / "run"]
    started = time.monotonic()
    with (folder / "output.txt").open("w", encoding="utf-8") as output:
        exit_code = ended_with(subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT))
    seconds = time.monotonic() - started
    return Qualification(exit_code=exit_code, seconds=seconds, verdicts=_verdicts(folder))


def ended_with(process: subprocess.Popen[bytes]) -> int:
    """Its exit code; an interrupt of this program ends it in order first, so that its brokers do not stay."""
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise


def _verdicts(folder: Path) -> Sequence[Mapping[str, Any]]:
    report = folder / "run" / "report.json"
    if not report.is_file():
        last = (folder.joinpath("output.txt").read_text().strip().splitlines() or ["it printed nothing"])[-1]
        raise RuntimeError(f"{folder.name} has no report: {last}")
    verdicts: Sequence[Mapping[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["verdicts"]
    return verdicts
