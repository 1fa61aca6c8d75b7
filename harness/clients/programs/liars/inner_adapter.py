"""The adapter that a lying one stands before: a process of its own, in the same process group."""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

Fields = dict[str, Any]
END_SECONDS = 2.0
"""That it has to end after SIGTERM."""


class InnerAdapter:
    """Asked one call at a time. What it writes to standard error goes to that of the lying adapter."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self.asked = 0
        self.process = self._started()

    def ask(self, call: Fields) -> Fields:
        """Its answer, with an ``id`` of its own. Where there is none, the lying adapter ends as it did."""
        self.asked += 1
        with suppress(OSError):  # where it is gone, what it said last is still to be read
            self.process.stdin.write(json.dumps({**call, "id": self.asked}) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.stderr.write(f"the inner adapter ended before it answered {call['call']}\n")
            raise SystemExit(self.end() or 1)
        return json.loads(line)

    def end(self) -> int:
        """Wait until it ends by itself, for which its input ends; its exit code."""
        with suppress(OSError):
            self.process.stdin.close()
        return self.process.wait()

    def end_now(self) -> None:
        """See to it that it has ended."""
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def crash(self) -> None:
        """End it without a word to the brokers."""
        self.process.kill()
        self.process.wait()

    def start_again(self) -> None:
        """Another process of the same command."""
        self.ask({"call": "close"})
        self.end()
        self.process = self._started()

    def _started(self) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen(self.command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8", errors="replace")
