"""Tries an adapter against the protocol (PROTOCOL.md) without a broker: each trial with a process of its own."""

import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from harness.base.wait import elapsed_ms_until
from harness.clients.stdio.adapter_answer import AdapterAnswer
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.clients.stdio.adapter_options import AdapterOptions
from harness.clients.stdio.adapter_process import END_SECONDS, AdapterFailed, AdapterProcess, start_adapter

START_SECONDS = 30.0
"""For the answer to ``open``: a virtual machine may have to start first."""
BLOCK_MS = 2_000
SLACK_SECONDS = 15.0
"""What a library may take beyond its own timeouts."""
POLL_MS = 300
NOT_KNOWN = {"not_known_to_you": 1}
"""A field that adapters ignore, as any that they do not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """What became of one trial.

    :param wrong: What is not as the protocol says; empty when all is.
    """

    title: str
    wrong: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An adapter whose ``open`` was answered, and the answer."""

    adapter: AdapterProcess
    answer: AdapterAnswer

    def call(self, name: str, **arguments: object) -> AdapterAnswer:
        """A call that waits for no broker for longer than ``block_ms``."""
        return self.adapter.call(name, within_seconds=BLOCK_MS / 1000 + SLACK_SECONDS, **arguments)  # type: ignore[arg-type]


def check_adapter(command: AdapterCommand) -> Iterator[TrialResult]:
    """All trials, one after the other; where an adapter cannot even be opened the others are not tried."""
    for trial in TRIALS:
        wrong = _wrong(trial, command)
        yield TrialResult(title=str(trial.__doc__), wrong=wrong)
        if wrong and trial is TRIALS[0]:
            return


def _wrong(trial: "Trial", command: AdapterCommand) -> str:
    try:
        with _opened(command) as opened:
            return trial(opened)
    except AdapterFailed as failed:
        return str(failed)


@contextmanager
def _opened(command: AdapterCommand) -> Iterator[Opened]:
    with closing(socket.socket()) as nobody:  # bound and not listening: a connection is refused
        nobody.bind(("127.0.0.1", 0))
        options = AdapterOptions(
            bootstrap=[f"127.0.0.1:{nobody.getsockname()[1]}"],
            client_id="check",
            transactional_id="check",
            block_ms=BLOCK_MS,
            request_timeout_ms=1_000,
            delivery_timeout_ms=BLOCK_MS,
        )
        adapter = start_adapter(command.command, name=command.name)
        try:
            arguments = {**options.arguments(), **NOT_KNOWN}
            yield Opened(adapter=adapter, answer=adapter.call("open", within_seconds=START_SECONDS, **arguments))
        finally:
            adapter.end()


def _names_its_library(opened: Opened) -> str:
    """open is answered with the library's name and version"""
    if not opened.answer.done:
        return f"open was answered {opened.answer.outcome}: {opened.answer.error}"
    missing = [name for name in ("library", "version") if not getattr(opened.answer, name)]
    return f"open was answered without {' and '.join(missing)}" if missing else ""


def _refuses_what_it_does_not_know(opened: Opened) -> str:
    """a call that it does not know is refused as unsupported, and the next one is answered"""
    answer = opened.call("no_such_call", topic="t")
    if not answer.unsupported:
        return f"no_such_call was answered {_told(answer)}"
    opened.call("begin")
    return ""


def _says_that_init_failed(opened: Opened) -> str:
    """init without a broker is answered with an error, in time"""
    answer = opened.call("init")
    return "init is done although no broker is there" if answer.done else ""


def _cannot_commit_nothing(opened: Opened) -> str:
    """commit without a transaction is answered with an error"""
    answer = opened.call("commit")
    return "commit is done although there is no transaction" if answer.done else ""


def _polls_in_time(opened: Opened) -> str:
    """poll without a broker gives no records, and no sooner than asked where it has no error to tell"""
    if opened.call("subscribe", partitions=[{"topic": "t", "partition": 0}]).unsupported:
        return ""
    started = time.monotonic()
    answer = opened.call("poll", within_ms=POLL_MS)
    if answer.records:
        return "poll gave records although no broker is there"
    early = time.monotonic() - started < POLL_MS / 1000 / 2
    return f"poll(within_ms={POLL_MS}) was answered at once, without records" if early and answer.done else ""


def _ends_after_close(opened: Opened) -> str:
    """close is answered, and the program ends with exit code 0"""
    answer = opened.call("close", **NOT_KNOWN)
    return _how_it_ended(opened.adapter.end(), "close") if answer.done else f"close was answered {_told(answer)}"


def _ends_with_its_input(opened: Opened) -> str:
    """the program ends with exit code 0 at the end of its input"""
    return _how_it_ended(opened.adapter.end(), "the end of its input")


def _ends_at_sigterm(opened: Opened) -> str:
    """SIGTERM ends the program"""
    opened.adapter.signal(signal.SIGTERM)
    ended = elapsed_ms_until(lambda: opened.adapter.process.poll() is not None, timeout_seconds=END_SECONDS)
    return f"it goes on {END_SECONDS:g} s after SIGTERM" if ended is None else ""


def _says_nothing_unasked(opened: Opened) -> str:
    """nothing but answers is written to standard output"""
    for _ in range(3):
        opened.call("begin")
    return ""


Trial = Callable[[Opened], str]
TRIALS: Sequence[Trial] = (
    _names_its_library,
    _refuses_what_it_does_not_know,
    _says_that_init_failed,
    _cannot_commit_nothing,
    _polls_in_time,
    _says_nothing_unasked,
    _ends_after_close,
    _ends_with_its_input,
    _ends_at_sigterm,
)


def _how_it_ended(code: int | None, after: str) -> str:
    if code is None:
        return f"it goes on {END_SECONDS:g} s after {after}"
    return "" if code == 0 else f"it ended with exit code {code} after {after}"


def _told(answer: AdapterAnswer) -> str:
    return answer.outcome if answer.error is None else f"{answer.outcome}: {answer.error.type} {answer.error.message}"
