"""Many qualifications of one target, each with a seed of its own, and the verdicts that were not always the same."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.base.paths import ROOT

BUSY = "while True: pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRun:
    """One of them.

    :param verdicts: By requirement: the status, and the anomalies that were found.
    """

    seed: int
    exit_code: int
    seconds: float
    verdicts: Mapping[str, str]


@contextmanager
def other_load(processes: int) -> Iterator[None]:
    """So many processes that want a processor each, for the length of the block."""
    with ExitStack() as ending:
        for _ in range(processes):
            busy = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.DEVNULL)
            ending.callback(busy.wait)
            ending.callback(busy.kill)
        yield


def judged_once(target: str, seed: int, folder: Path, words: Sequence[str]) -> RepeatedRun:
    """A qualification in a process of its own; its output goes to ``folder/output.txt``.

    :raises RuntimeError: When there is no report, with the last line of the output.
    """
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "harness", "qualify", target, "--seed", str(seed), *words]
    started = time.monotonic()
    with (folder / "output.txt").open("w", encoding="utf-8") as output:
        ended = subprocess.run(
            [*command, "--report-dir", folder / "run"], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False
        )
    seconds = time.monotonic() - started
    return RepeatedRun(seed=seed, exit_code=ended.returncode, seconds=seconds, verdicts=_verdicts(folder))


def differing(runs: Sequence[RepeatedRun]) -> Mapping[str, Mapping[str, Sequence[int]]]:
    """Requirements whose verdict was not always the same: each verdict with the seeds of its runs, the rarest first."""
    every = dict.fromkeys(id_ for run in runs for id_ in run.verdicts)
    found = {id_: _by_verdict(id_, runs) for id_ in every}
    return {id_: by_verdict for id_, by_verdict in found.items() if len(by_verdict) > 1}


def _by_verdict(id_: str, runs: Sequence[RepeatedRun]) -> Mapping[str, Sequence[int]]:
    seeds: dict[str, list[int]] = {}
    for run in runs:
        seeds.setdefault(run.verdicts.get(id_, "not judged"), []).append(run.seed)
    return dict(sorted(seeds.items(), key=lambda one: len(one[1])))


def statuses(runs: Sequence[RepeatedRun]) -> Mapping[str, int]:
    """How many verdicts of each status all runs have given."""
    return Counter(verdict.split(":")[0] for run in runs for verdict in run.verdicts.values())


def _verdicts(folder: Path) -> Mapping[str, str]:
    report = folder / "run" / "report.json"
    if not report.is_file():
        last = (folder.joinpath("output.txt").read_text().strip().splitlines() or ["it printed nothing"])[-1]
        raise RuntimeError(f"{folder.name} has no report: {last}")
    found = json.loads(report.read_text(encoding="utf-8"))["verdicts"]
    return {verdict["id"]: _words(verdict) for verdict in found}


def _words(verdict: Mapping[str, object]) -> str:
    findings = verdict["findings"]
    assert isinstance(findings, list)
    anomalies = ", ".join(sorted({str(finding["anomaly"]) for finding in findings}))
    return f"{verdict['status']}: {anomalies}" if anomalies else str(verdict["status"])
