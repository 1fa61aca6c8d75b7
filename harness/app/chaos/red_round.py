"""Which round is to be shrunk, and how it was run: read from its folder."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from harness.app.option_table import declare
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.plan_file import PLAN, read_plan
from harness.chaos.plan.round_folders import rounds_of
from harness.chaos.plan.round_plan import RoundPlan
from harness.evidence.history.judgement import HistoryFinding
from harness.evidence.status import Status
from harness.report.chaos.round_results import RoundResults, read_round


@dataclass(frozen=True, slots=True, kw_only=True)
class RedRound:
    """A round that is VIOLATED.

    :param anomaly: What a smaller one must show too.
    """

    results: RoundResults
    anomaly: str
    plan: RoundPlan

    @property
    def finding(self) -> HistoryFinding:
        """The first of the anomaly."""
        return finding_of(self.results, self.anomaly)


def finding_of(results: RoundResults, anomaly: str) -> HistoryFinding:
    """The first finding of an anomaly that the round shows."""
    return next(each for check in results.checks for each in check.findings if each.anomaly == anomaly)


def find_red_round(folder: Path, name: str | None, anomaly: str | None) -> RedRound:
    """The round, by its folder, or by the session's folder and its name or number there.

    :param anomaly: The one to keep; None for the first by precedence.
    :raises UserError: When there is no such round, it is not red, or does not show the anomaly.
    """
    results = read_round(_chosen(folder, name))
    if results.conclusion != Status.VIOLATED.value:
        _wrong(f"{results.folder} is {results.conclusion}: only a round that is VIOLATED can be shrunk")
    if anomaly is not None and anomaly not in results.anomalies:
        _wrong(f"{results.folder} does not show {anomaly}; it shows {', '.join(results.anomalies)}")
    if not (results.folder / PLAN).is_file():
        _wrong(f"{results.folder} has no {PLAN}: play the round again with this Fencepost, and shrink that")
    plan = read_plan(results.folder / PLAN)
    return RedRound(results=results, anomaly=anomaly or next(iter(results.anomalies)), plan=plan)


def options_of_round(results: RoundResults) -> argparse.Namespace:
    """What the round's own command gave: target, backend, the cluster's options.

    :raises UserError: When the folder has no command that this Fencepost understands.
    """
    words = shlex.split(results.again)
    parser = _CommandParser()
    parser.add_argument("target", nargs="?", default="")
    declare("chaos", parser.add_argument)
    if words[:2] != ["fencepost", "chaos"]:
        parser.error("no fencepost chaos")
    return parser.parse_args(words[2:])


class _CommandParser(argparse.ArgumentParser):
    """Says what is wrong as an error of ours."""

    def error(self, message: str) -> NoReturn:
        _wrong(f"the round's command cannot be used again: {message}", ExitCode.EVIDENCE_UNREADABLE)


def _chosen(folder: Path, name: str | None) -> Path:
    rounds = rounds_of(folder.absolute())
    if not rounds:
        sentence = f"{folder} holds no round of chaos: name the folder that fencepost chaos told at its end"
        _wrong(sentence, ExitCode.EVIDENCE_UNREADABLE)
    if name is not None:
        return _named(folder, rounds, name)
    red = [each for each in rounds if read_round(each).conclusion == Status.VIOLATED.value]
    if len(rounds) > 1 and not red:
        _wrong(f"no round of {folder} is VIOLATED: there is nothing to shrink")
    if len(red) > 1:
        _wrong(f"{len(red)} rounds of {folder} are VIOLATED: name one behind it: {_names(red)}")
    return red[0] if red else rounds[0]


def _named(folder: Path, rounds: Sequence[Path], name: str) -> Path:
    fit = [each for each in rounds if each.name == name or each.name.partition("-")[0] == name.zfill(3)]
    if not fit:
        _wrong(f"{folder} has no round {name}; there are {_names(rounds)}")
    return fit[0]


def _names(rounds: Sequence[Path]) -> str:
    return ", ".join(each.name for each in rounds)


def _wrong(sentence: str, code: ExitCode = ExitCode.USAGE) -> NoReturn:
    raise UserError(sentence, exit=code)
