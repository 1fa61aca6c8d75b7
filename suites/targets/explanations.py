"""Why a server breaks a promise: written by hand, one entry for each, and compared with what was found.

``explanations.toml`` names for a requirement the targets, the anomalies that are explained, the place in the server's
source and the reason. What is found and not explained is an error, and so is what is explained and not found.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suites.targets.target_runs import TargetRun

FILE = Path(__file__).with_name("explanations.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One entry.

    :param targets: Names of the targets that fail for this reason.
    :param anomalies: The anomalies that it explains; none for what was not exercised.
    :param by_chance: More of them, of which each may show in a run or not, as by where an id is hashed to.
    :param source: File and function of the server.
    """

    id: str
    targets: tuple[str, ...]
    source: str
    why: str
    anomalies: tuple[str, ...] = ()
    by_chance: tuple[str, ...] = ()


def read_explanations() -> Sequence[Explanation]:
    """Every entry of the file; :raises TypeError: for one that lacks a field or has a wrong one."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8")).get("explanation", [])
    return [Explanation(**_with_tuples(entry)) for entry in entries]


def of(explanations: Sequence[Explanation], target: str, requirement: str) -> Sequence[Explanation]:
    """The entries for one verdict."""
    return [one for one in explanations if one.id == requirement and target in one.targets]


def mismatches(explanations: Sequence[Explanation], runs: Sequence[TargetRun]) -> Iterator[str]:
    """A sentence for each thing that was found and is not explained, or is explained and was not found.

    Entries for targets that were not run are left alone.
    """
    for run in runs:
        yield from _unsound(run) if run.shape.sound else unexplained(explanations, run)
    found = {(run.shape.name, verdict["id"]): anomalies_of(verdict) for run in runs for verdict in run.failing()}
    ran = {run.shape.name for run in runs}
    for one in explanations:
        here = [target for target in one.targets if target in ran]
        missing = [target for target in here if (target, one.id) not in found]
        yield from (f"{target} does not fail {one.id}, which is explained" for target in missing)
        shown = {anomaly for target in here for anomaly in found.get((target, one.id), ())}
        if set(here) == set(one.targets) and not missing:
            yield from (f"{one.id} shows no {name}, which is explained" for name in one.anomalies if name not in shown)


def anomalies_of(verdict: Mapping[str, Any]) -> Sequence[str]:
    """The names of a verdict's findings, each once, in their order."""
    return list(dict.fromkeys(finding["anomaly"] for finding in verdict["findings"]))


def _unsound(run: TargetRun) -> Iterator[str]:
    wrong = [one for one in run.verdicts if one["status"] in ("VIOLATED", "UNDECIDED") and not one["known_failure"]]
    yield from (f"{run.shape.name} is sound, and {verdict['id']} is {verdict['status']}" for verdict in wrong)
    if run.exit_code:
        yield f"{run.shape.name} is sound, and ended with exit code {run.exit_code}"


def unexplained(explanations: Sequence[Explanation], run: TargetRun) -> Iterator[str]:
    """A sentence for each failure, and each anomaly of one, that has no explanation."""
    for verdict in run.failing():
        entries = of(explanations, run.shape.name, verdict["id"])
        if not entries:
            yield f"{run.shape.name}: {verdict['id']} is {verdict['status']} and not explained"
        explained = {anomaly for one in entries for anomaly in (*one.anomalies, *one.by_chance)}
        for anomaly in anomalies_of(verdict) if entries else ():
            if anomaly not in explained:
                yield f"{run.shape.name}: {verdict['id']} shows {anomaly}, which is not explained"


def _with_tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
