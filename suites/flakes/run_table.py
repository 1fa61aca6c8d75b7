"""The runs of several sessions in one folder: a table of one line of JSON for each, so that they add up.

The first run's line has all its verdicts, each other one those that differ from the first's. Beside the table lie the
folders of runs that were not like the others, named by their seeds.
"""

import dataclasses
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from suites.flakes.repeated_runs import RepeatedRun, rare_seeds

NOT_JUDGED = ""
"""In place of a verdict that only the first run has."""


class AnotherQuestionError(Exception):
    """The table is about another target, other words or another load, so that its runs cannot be counted together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What all runs of a table have in common; its first line.

    :param words: For ``fencepost qualify``, besides target and seed.
    :param load: Processes that kept a processor busy.
    """

    target: str
    words: Sequence[str]
    load: int


class RunTable:
    """``FOLDER/runs.jsonl``.

    :raises AnotherQuestionError: When the folder has a table of another question.
    """

    def __init__(self, folder: Path, question: Question) -> None:
        self.folder, self._path = folder, folder / "runs.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        first = json.dumps(dataclasses.asdict(question))
        if not self._path.exists():
            self._path.write_text(first + "\n", encoding="utf-8")
        asked, *rows = self._path.read_text(encoding="utf-8").splitlines()
        if asked != first:
            raise AnotherQuestionError(f"{self._path} holds runs of {asked}, not of {first}")
        self.runs: list[RepeatedRun] = []
        for row in rows:
            run = RepeatedRun(**json.loads(row))
            self.runs.append(replace(run, verdicts=_whole(run.verdicts, self._first)))

    def next_seed(self) -> int:
        """The one after the highest of the table; the first is 1."""
        return max((run.seed for run in self.runs), default=0) + 1

    def room(self, seed: int) -> Path:
        """An empty place for a run; what one that was interrupted has left there is removed."""
        place = self.folder / str(seed)
        shutil.rmtree(place, ignore_errors=True)
        return place

    def add(self, run: RepeatedRun) -> None:
        """Write it down at once, so that an interruption loses only the run that it interrupts."""
        told = replace(run, verdicts=_differing(run.verdicts, self._first))
        self.runs.append(run)
        with self._path.open("a", encoding="utf-8") as table:
            table.write(json.dumps(dataclasses.asdict(told)) + "\n")

    @property
    def _first(self) -> Mapping[str, str]:
        return self.runs[0].verdicts if self.runs else {}

    def forget_usual(self) -> None:
        """Remove the folders of runs that were like most others."""
        rare = rare_seeds(self.runs)
        for run in self.runs:
            if run.seed not in rare:
                shutil.rmtree(self.folder / str(run.seed), ignore_errors=True)


def _differing(verdicts: Mapping[str, str], first: Mapping[str, str]) -> Mapping[str, str]:
    missing = {id_: NOT_JUDGED for id_ in first if id_ not in verdicts}
    return {**{id_: each for id_, each in verdicts.items() if first.get(id_) != each}, **missing}


def _whole(told: Mapping[str, str], first: Mapping[str, str]) -> Mapping[str, str]:
    return {id_: each for id_, each in {**first, **told}.items() if each != NOT_JUDGED}
