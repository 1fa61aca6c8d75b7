"""Reads calls from standard input and answers them, for adapters in Python; see PROTOCOL.md.

An adapter is an object with a method for each call that it can do. A method gets the call's arguments by name, and
returns the fields of its answer; ``{}`` is done. The library's errors are raised, and ``said`` turns one into fields.
"""

import asyncio
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafka_properties import NotUnderstood

Fields = dict[str, Any]
Said = Callable[[Exception], Fields]
Deliveries = Callable[[], list[Fields]]


def error_fields(
    type_: str, message: str, code: int | None = None, kind: str | None = None, causes: Sequence[Fields] = ()
) -> Fields:
    """The fields of an error; ``kind`` is its class."""
    return {"type": type_, "message": message, "code": code, "class": kind, "causes": [*causes]}


def unsupported(message: str) -> Fields:
    """The fields of a call that the library has nothing for."""
    return {"outcome": "refused", "error": error_fields("unsupported", message)}


def serve(adapter: object, said: Said, deliveries: Deliveries) -> None:
    """Answer calls until ``close`` or the end of the input.

    :param said: Fields of the answer (``outcome`` and ``error``) for an error of the library.
    :param deliveries: Results of records that came since they were last asked for.
    """
    for line in sys.stdin:
        call: Mapping[str, Any] = json.loads(line)
        try:
            fields = _called(adapter, call)
        except Exception as error:  # noqa: BLE001  whatever a library raises is what Fencepost asks for
            fields = _failed(error, said)
        _answer(call, fields, deliveries())
        if call["call"] == "close":
            return


async def serve_async(adapter: object, said: Said, deliveries: Deliveries) -> None:
    """The same where methods are coroutines; the library's tasks run while a line is awaited."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        call: Mapping[str, Any] = json.loads(line)
        try:
            fields = await _called(adapter, call)
        except Exception as error:  # noqa: BLE001  whatever a library raises is what Fencepost asks for
            fields = _failed(error, said)
        _answer(call, fields, deliveries())
        if call["call"] == "close":
            return


def _called(adapter: object, call: Mapping[str, Any]) -> Any:
    """What the method returns, which gets the fields that it knows."""
    method = _method(adapter, call)
    known = inspect.signature(method).parameters
    every = any(each.kind is each.VAR_KEYWORD for each in known.values())
    given = {name: value for name, value in call.items() if name not in ("id", "call")}
    return method(**{name: value for name, value in given.items() if every or name in known})


def _method(adapter: object, call: Mapping[str, Any]) -> Callable[..., Any]:
    name = str(call["call"])
    method = None if name.startswith("_") else getattr(adapter, name, None)
    if method is None:
        raise NotUnderstood(f"this adapter does not know the call {name!r}")
    return method


def _failed(error: Exception, said: Said) -> Fields:
    return unsupported(str(error)) if isinstance(error, NotUnderstood) else said(error)


def _answer(call: Mapping[str, Any], fields: Fields | None, arrived: Sequence[Fields]) -> None:
    answer = {"id": call["id"], "outcome": "done", **(fields or {}), **({"deliveries": arrived} if arrived else {})}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
