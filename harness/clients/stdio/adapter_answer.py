"""What an adapter answers (PROTOCOL.md, "Answers"), read from a line and compared with what the protocol says."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, get_args

from harness.base.json_value import Json
from harness.evidence.client_evidence import (
    AbilityName,
    CallOutcome,
    Classification,
    Delivery,
    LibraryError,
    Position,
    ReadRecord,
)

LONGEST_LINE = 4 * 2**20
"""Bytes of a line, at most."""


class _Place(TypedDict):
    topic: str
    partition: int
    offset: int


class NotTheProtocol(Exception):
    """A line is not what the protocol says; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterAnswer:
    """One answer; fields as in the protocol."""

    id: int
    outcome: CallOutcome
    error: LibraryError | None = None
    library: str = ""
    version: str = ""
    deliveries: Sequence[Delivery] = ()
    lacks: frozenset[AbilityName] = frozenset()
    records: Sequence[ReadRecord] = ()
    positions: Sequence[Position] = ()

    @property
    def done(self) -> bool:
        """Whether the library reports success."""
        return self.outcome == "done"

    @property
    def unsupported(self) -> bool:
        """Whether the adapter does not know the call, or its library cannot do it."""
        return self.error is not None and self.error.type == "unsupported"


def read_answer(line: str) -> AdapterAnswer:
    """An answer from its line; :raises NotTheProtocol: where it is none."""
    try:
        read = json.loads(line)
    except ValueError:
        raise NotTheProtocol("it is not JSON") from None
    fields = _object(read, "the line")
    answer = AdapterAnswer(
        id=_number(fields, "id"),
        outcome=_outcome(fields),
        error=_error(fields.get("error")),
        library=_text(fields, "library", ""),
        version=_text(fields, "version", ""),
        lacks=_lacks(fields),
        deliveries=[_delivery(each) for each in _list(fields, "deliveries")],
        records=[ReadRecord(**_place(each), value=_text(each, "value")) for each in _list(fields, "records")],
        positions=[Position(**_place(each)) for each in _list(fields, "positions")],
    )
    if not answer.done and answer.error is None:
        raise NotTheProtocol(f"outcome is {answer.outcome!r} without an error")
    return answer


def _lacks(fields: Mapping[str, Json]) -> frozenset[AbilityName]:
    told = _texts(fields, "lacks")
    if unknown := [name for name in told if name not in get_args(AbilityName)]:
        raise NotTheProtocol(f"lacks names {unknown[0]!r}, not one of {', '.join(get_args(AbilityName))}")
    return frozenset(name for name in get_args(AbilityName) if name in told)


def _delivery(fields: Mapping[str, Json]) -> Delivery:
    offset = fields.get("offset")
    delivery = Delivery(
        topic=_text(fields, "topic"),
        partition=_number(fields, "partition"),
        value=_text(fields, "value"),
        outcome=_outcome(fields),
        offset=None if offset is None else _number(fields, "offset"),
        error=_error(fields.get("error")),
    )
    if delivery.outcome != "done" and delivery.error is None:
        raise NotTheProtocol(f"the delivery of {delivery.value!r} is {delivery.outcome!r} without an error")
    return delivery


def _place(fields: Mapping[str, Json]) -> _Place:
    return {
        "topic": _text(fields, "topic"),
        "partition": _number(fields, "partition"),
        "offset": _number(fields, "offset"),
    }


def _error(value: Json) -> LibraryError | None:
    if value is None:
        return None
    fields = _object(value, "error")
    named = fields.get("class")
    if named is not None and named not in get_args(Classification):
        raise NotTheProtocol(f"error.class is {named!r}, not one of {', '.join(get_args(Classification))} or null")
    causes = [_error(dict(each)) for each in _list(fields, "causes")]
    return LibraryError(
        type=_text(fields, "type"),
        message=_text(fields, "message", ""),
        code=None if fields.get("code") is None else _number(fields, "code"),
        classification=next((each for each in get_args(Classification) if each == named), None),
        causes=[cause for cause in causes if cause is not None],
        bases=_texts(fields, "bases"),
    )


def _outcome(fields: Mapping[str, Json]) -> CallOutcome:
    named = fields.get("outcome")
    found: CallOutcome | None = next((each for each in get_args(CallOutcome) if each == named), None)
    if found is None:
        raise NotTheProtocol(f"outcome is {named!r}, not one of {', '.join(get_args(CallOutcome))}")
    return found


def _object(value: Json, what: str) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise NotTheProtocol(f"{what} is no object")
    return value


def _list(fields: Mapping[str, Json], name: str) -> Sequence[Mapping[str, Json]]:
    value = fields.get(name) or []
    if not isinstance(value, list):
        raise NotTheProtocol(f"{name} is no list")
    return [_object(each, f"an element of {name}") for each in value]


def _texts(fields: Mapping[str, Json], name: str) -> Sequence[str]:
    value = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise NotTheProtocol(f"{name} is no list of texts")
    return [str(each) for each in value]


def _number(fields: Mapping[str, Json], name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise NotTheProtocol(f"{name} is {value!r}, not a number")
    return value


def _text(fields: Mapping[str, Json], name: str, default: str | None = None) -> str:
    value = fields.get(name, default)
    if not isinstance(value, str):
        raise NotTheProtocol(f"{name} is {value!r}, not a text")
    return value
