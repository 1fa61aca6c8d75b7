"""Reads calls from standard input and answers them, for adapters in Python; see PROTOCOL.md.

An adapter is an object with a method for each call that it can do. A method gets the call's arguments by name, and
returns the fields of its answer; ``{}`` is done. The library's errors are raised, and ``said`` turns one into fields.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

Fields = dict[str, Any]


def unsupported(message: str) -> Fields:
    """The fields of a call that the library has nothing for."""
    return {"outcome": "refused", "error": {"type": "unsupported", "message": message, "code": None, "class": None}}


def serve(adapter: object, said: Callable[[Exception], Fields], deliveries: Callable[[], list[Fields]]) -> None:
    """Answer calls until ``close`` or the end of the input.

    :param said: Fields of the answer (``outcome`` and ``error``) for an error of the library.
    :param deliveries: Results of records that came since they were last asked for.
    """
    for line in sys.stdin:
        call: Mapping[str, Any] = json.loads(line)
        fields = _fields(adapter, call, said)
        arrived = deliveries()
        answer = {"id": call["id"], "outcome": "done", **fields, **({"deliveries": arrived} if arrived else {})}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        if call["call"] == "close":
            return


def _fields(adapter: object, call: Mapping[str, Any], said: Callable[[Exception], Fields]) -> Fields:
    name = str(call["call"])
    method = None if name.startswith("_") else getattr(adapter, name, None)
    if method is None:
        return unsupported(f"this adapter does not know the call {name!r}")
    try:
        return method(**{key: value for key, value in call.items() if key not in ("id", "call")}) or {}
    except Exception as error:  # noqa: BLE001  whatever a library raises is what Fencepost asks for
        return said(error)
