"""Many qualifications of one target, each with a seed of its own, and the verdicts that were not always the same."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from suites.qualification import qualification

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
    """A qualification; :raises RuntimeError: when there is no report, with the last line of the output."""
    folder.mkdir(parents=True)
    ended = qualification([target, "--seed", str(seed), *words], folder)
    verdicts = {verdict["id"]: _words(verdict) for verdict in ended.verdicts}
    return RepeatedRun(seed=seed, exit_code=ended.exit_code, seconds=ended.seconds, verdicts=verdicts)


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


def rare_seeds(runs: Sequence[RepeatedRun]) -> set[int]:
    """Seeds of runs in which some verdict was not the most frequent one."""
    return {seed for by_verdict in differing(runs).values() for seeds in [*by_verdict.values()][:-1] for seed in seeds}


def statuses(runs: Sequence[RepeatedRun]) -> Mapping[str, int]:
    """How many verdicts of each status all runs have given."""
    return Counter(verdict.split(":")[0] for run in runs for verdict in run.verdicts.values())


def _words(verdict: Mapping[str, object]) -> str:
    findings = verdict["findings"]
    assert isinstance(findings, list)
    anomalies = ", ".join(sorted({str(finding["anomaly"]) for finding in findings}))
    return f"{verdict['status']}: {anomalies}" if anomalies else str(verdict["status"])
