"""Small programs that are adapters, or fail to be in one way, written to a file and run by this Python."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from harness.clients.stdio.adapter_name import AdapterCommand
from harness.clients.stdio.adapter_process import AdapterProcess, start_adapter

SOUND = """
import json, signal, sys
from time import sleep
def answer(id, **fields): print(json.dumps({"id": id, **fields}), flush=True)
def refused(id, type): answer(id, outcome="refused", error={"type": type, "message": "no"})
for line in sys.stdin:
    call = json.loads(line)
    match call["call"]:
        case "open": answer(call["id"], outcome="done", library="fake", version="1")
        case "begin" | "subscribe": answer(call["id"], outcome="done")
        case "poll": sleep(call["within_ms"] / 1000); answer(call["id"], outcome="done", records=[])
        case "init" | "commit": refused(call["id"], "NoBroker")
        case "close": answer(call["id"], outcome="done"); break
        case _: refused(call["id"], "unsupported")
"""

SCRIPTED = """
import json, sys
from pathlib import Path
here = Path(__file__).parent
script, asked = json.loads((here / "script.json").read_text()), here / "asked.jsonl"
for line in sys.stdin:
    call = json.loads(line)
    before = [json.loads(each)["call"] for each in asked.read_text().splitlines()] if asked.exists() else []
    with asked.open("a") as kept: kept.write(line)
    told = dict(enumerate(script.get(call["call"], []))).get(before.count(call["call"]), {})
    print(json.dumps({"id": call["id"], "outcome": "done", **told}), flush=True)
    if call["call"] == "close": break
"""
"""Answers the calls of a name as ``script.json`` says, in order, also over several processes; done after that.
It keeps what it was asked in ``asked.jsonl``."""


def program(folder: Path, text: str) -> AdapterCommand:
    """The command that runs this text."""
    path = folder / "adapter.py"
    path.write_text(text, encoding="utf-8")
    return AdapterCommand(name="./adapter", command=[sys.executable, str(path)])


@contextmanager
def running(command: AdapterCommand) -> Iterator[AdapterProcess]:
    """The program, started; nothing of it is left afterwards, whatever became of the test."""
    adapter = start_adapter(command.command, name=command.name)
    try:
        yield adapter
    finally:
        adapter.kill()


def child_of(adapter: AdapterProcess) -> psutil.Process:
    """The one process that it has started."""
    (child,) = psutil.Process(adapter.process.pid).children()
    return child


def but(old: str, new: str) -> str:
    """The sound one with one thing changed."""
    assert old in SOUND
    return SOUND.replace(old, new)


OBEDIENT = """
import json, os, sys
from time import sleep
def answer(id, **fields): print(json.dumps({"id": id, **fields}), flush=True)
written = 0
for line in sys.stdin:
    call = json.loads(line)
    match call["call"]:
        case "open": answer(call["id"], outcome="done", library="fake", version="1")
        case "produce":
            (value,), place = call["values"], {name: call[name] for name in ("topic", "partition")}
            delivery = {**place, "value": value, "outcome": "done", "offset": written}
            answer(call["id"], outcome="done", deliveries=[delivery])
            written += 1
        case "poll":
            record = {"topic": "t", "partition": 0, "offset": 7, "value": "x"}
            answer(call["id"], outcome="done", records=[record])
        case "close": answer(call["id"], outcome="done"); break
        case _: answer(call["id"], outcome="done")
"""
"""Answers everything with success."""


def which(call: str, does: str) -> str:
    """The obedient one that does something else when it gets a call."""
    return OBEDIENT.replace('case "open"', f'case "{call}": {does}\n        case "open"')
