"""One running adapter: its calls, its answers, and its end, whatever it does.

Every way in which a program can fail to be an adapter becomes one sentence with the last lines of its standard error:
it does not start, ends, is silent, answers out of turn or something else than the protocol says.
"""

import json
import os
import queue
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

from harness.base.json_value import Json
from harness.clients.stdio.adapter_answer import LONGEST_LINE, AdapterAnswer, NotTheProtocol, read_answer

STDERR_LINES = 5
"""Of the end of its standard error, that stand in an error."""
KEPT_STDERR_LINES = 200
END_SECONDS = 5.0
"""Seconds that it has to end after ``close``, and once more after SIGTERM."""
LAST_SECONDS = 3.0
"""Seconds that it may take from the end of its output to its own, and to the end of its standard error."""
UNREAD_LINES = 8
"""Lines that may wait to be read; beyond them an adapter that floods waits in its own write."""


class AdapterFailed(Exception):
    """The program is no adapter, or is one no longer; the text is one sentence, and lines of its standard error."""


@dataclass(slots=True, kw_only=True)
class AdapterProcess:
    """A program that was started; owned by one thread. :func:`start_adapter` makes it."""

    name: str
    process: "subprocess.Popen[bytes]"
    _lines: "queue.Queue[bytes | None]" = field(default_factory=lambda: queue.Queue(UNREAD_LINES))
    _stderr: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_STDERR_LINES))
    _calls: int = 0
    _readers: Sequence[threading.Thread] = ()

    def call(self, name: str, *, within_seconds: float, **arguments: Json) -> AdapterAnswer:
        """One call and its answer.

        :raises AdapterFailed: when there is none in time, or it is not what the protocol says.
        """
        self._calls += 1
        self._write(json.dumps({"id": self._calls, "call": name, **arguments}).encode(), name, within_seconds)
        line = self.line(name, within_seconds)
        try:
            answer = read_answer(line)
        except NotTheProtocol as wrong:
            raise self.failed(f"answered {name} with {_shown(line)}: {wrong}") from None
        if answer.id != self._calls:
            raise self.failed(f"answered out of turn: id {answer.id} where {name} has id {self._calls}")
        return answer

    def line(self, call: str, within_seconds: float) -> str:
        """The next line of its output."""
        try:
            line = self._lines.get(timeout=within_seconds)
        except queue.Empty:
            raise self.failed(f"did not answer {call} within {within_seconds:g} s") from None
        if line is None:
            raise self.failed(f"{self._how_it_ended()} before it answered {call}")
        if len(line) > LONGEST_LINE:
            raise self.failed(f"answered {call} with a line of more than {LONGEST_LINE} bytes")
        return line.decode(errors="replace")

    def end(self) -> int | None:
        """Let it end, and see to it; its exit code where it ended by itself, else None. May be called twice."""
        with suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        by_itself = self._ended_within(END_SECONDS)
        if not by_itself:
            self.signal(signal.SIGTERM)
            if not self._ended_within(END_SECONDS):
                self.kill()
        self._let_go()
        return self.process.returncode if by_itself else None

    def kill(self) -> None:
        """End it at once with all that it has started, as a crash would."""
        self.signal(signal.SIGKILL)
        self.process.wait()
        self._let_go()

    def signal(self, number: signal.Signals) -> None:
        """To it and to what it has started, which are one process group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def failed(self, what: str) -> AdapterFailed:
        """The error about something that it did: ``the adapter NAME`` precedes it."""
        self._settle_stderr()
        last = [*self._stderr][-STDERR_LINES:]
        return AdapterFailed("\n  ".join([f"the adapter {self.name} {what}", *last]))

    @property
    def stderr(self) -> Sequence[str]:
        """The last lines of its standard error; of one that has ended, to the end."""
        self._settle_stderr()
        return tuple(self._stderr)

    def _write(self, line: bytes, call: str, within_seconds: float) -> None:
        """Where the program is gone, :meth:`line` tells what it said last, or how it ended."""
        assert self.process.stdin is not None
        left, deadline = memoryview(line + b"\n"), time.monotonic() + within_seconds
        with suppress(OSError, ValueError):
            room = select.poll()
            room.register(self.process.stdin, select.POLLOUT)
            while left:
                if not room.poll(max(0.0, deadline - time.monotonic()) * 1000):
                    raise self.failed(f"did not read {call} within {within_seconds:g} s")
                left = left[os.write(self.process.stdin.fileno(), left) :]

    def _ended_within(self, seconds: float) -> bool:
        """Its output is read meanwhile, so that it does not wait in a write."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._drop_lines()
            try:
                self.process.wait(min(left, 0.02))
            except subprocess.TimeoutExpired:
                continue
            return True
        return self.process.poll() is not None

    def _drop_lines(self) -> None:
        """Up to the end of its output, which stays to be told."""
        with suppress(queue.Empty):
            while self._lines.get_nowait() is not None:
                pass
            self._lines.put_nowait(None)

    def _how_it_ended(self) -> str:
        try:
            code = self.process.wait(LAST_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its output"
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def _settle_stderr(self) -> None:
        if self.process.poll() is not None:
            self._readers[1].join(LAST_SECONDS)

    def _let_go(self) -> None:
        """End what it has started and left running; the readers close their pipes when those are at their end."""
        self.signal(signal.SIGKILL)
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()


def start_adapter(command: Sequence[str], *, name: str) -> AdapterProcess:
    """Start the program; :raises AdapterFailed: where it cannot be started.

    :param name: As users know it.
    """
    try:
        process = subprocess.Popen(
            [*command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # its own children end with it, and a terminal's Ctrl-C reaches us alone
        )
    except OSError as error:
        raise AdapterFailed(f"the adapter {name} cannot be started: {error.strerror or error}") from error
    adapter = AdapterProcess(name=name, process=process)
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)  # a call may be longer than what a pipe holds
    assert process.stdout is not None
    assert process.stderr is not None
    readers = (
        threading.Thread(target=_read_lines, args=(process.stdout, adapter._lines), daemon=True),
        threading.Thread(target=_keep_lines, args=(process.stderr, adapter._stderr), daemon=True),
    )
    for reader in readers:
        reader.start()
    adapter._readers = readers
    return adapter


def _read_lines(pipe: IO[bytes], lines: "queue.Queue[bytes | None]") -> None:
    with pipe:
        while line := pipe.readline(LONGEST_LINE + 1):
            lines.put(line)
    lines.put(None)


def _keep_lines(pipe: IO[bytes], kept: deque[str]) -> None:
    with pipe:
        while line := pipe.readline(4096):
            kept.append(line.decode(errors="replace").rstrip())


def _shown(line: str) -> str:
    text = line.strip()
    return repr(text if len(text) <= 120 else text[:117] + "…")
