"""An adapter that lies before a scripted one: what the inner one is asked, and what the outer one says instead."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.clients.stdio.adapter_answer import AdapterAnswer
from harness.clients.stdio.adapter_process import AdapterProcess
from harness.clients.stdio.lying_adapter import lying
from suites.selfcheck.clients.stdio.programs import SCRIPTED, program, running

Fields = dict[str, Any]
Call = str | Fields
Script = Mapping[str, Sequence[Fields]]
FENCED: Fields = {"type": "Fenced", "message": "newer one", "code": 90, "class": "fenced", "causes": []}
ABORTABLE: Fields = {"type": "Abortable", "message": "too late", "code": None, "class": "abortable", "causes": []}
OFFSETS: Fields = {"call": "send_offsets", "offsets": []}
REFUSED: Fields = {"outcome": "refused", "error": ABORTABLE}
REFUSED_FOR_GOOD: Fields = {"outcome": "refused", "error": FENCED}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAndAsked:
    """What was said outside, and what was asked inside."""

    answers: Sequence[AdapterAnswer]
    asked: Sequence[Fields]

    @property
    def outcomes(self) -> Sequence[str]:
        """Of the answers, in order."""
        return [answer.outcome for answer in self.answers]

    @property
    def calls(self) -> Sequence[Any]:
        """Names of the calls that the inner one was asked."""
        return [each["call"] for each in self.asked]

    @property
    def produced(self) -> Sequence[Any]:
        """Values of each call of produce that the inner one was asked."""
        return [each["values"] for each in self.asked if each["call"] == "produce"]

    @property
    def delivered(self) -> Sequence[tuple[str, str]]:
        """Value and outcome of each delivery that was told."""
        return [(each.value, each.outcome) for answer in self.answers for each in answer.deliveries]


def lying_about(
    folder: Path, lie: str, script: Script, inside: str = SCRIPTED
) -> AbstractContextManager[AdapterProcess]:
    """The liar before the scripted one, for the length of the block."""
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    return running(lying(program(folder, inside), lie))


def told(folder: Path, lie: str, script: Script, *calls: Call, inside: str = SCRIPTED) -> ToldAndAsked:
    """Make the calls, and end it."""
    answers = []
    with lying_about(folder, lie, script, inside) as adapter:
        for each in calls:
            name, arguments = (each, {}) if isinstance(each, str) else (str(each["call"]), without_call(each))
            answers.append(adapter.call(name, within_seconds=20.0, **arguments))
        assert adapter.end() == 0
    return ToldAndAsked(answers=answers, asked=asked_in(folder))


def asked_in(folder: Path) -> Sequence[Fields]:
    """What the scripted one there was asked."""
    return [json.loads(line) for line in (folder / "asked.jsonl").read_text(encoding="utf-8").splitlines()]


def without_call(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if name != "call"}


def produce(*values: str, wait: bool = True) -> Fields:
    return {"call": "produce", "topic": "t", "partition": 0, "values": [*values], "wait": wait}


def delivery(value: str, **fields: Any) -> Fields:
    return {"topic": "t", "partition": 0, "value": value, "outcome": "done", "offset": 7, **fields}


def wrote(*values: str) -> Fields:
    return {"deliveries": [delivery(value) for value in values]}


def read(*offsets: int, positions: Sequence[int] = ()) -> Fields:
    records = [{"topic": "t", "partition": 0, "offset": offset, "value": str(offset)} for offset in offsets]
    return {"records": records, "positions": [{"topic": "t", "partition": 0, "offset": each} for each in positions]}
