"""Which clients are watched, and their logs. While nobody is watched, nothing is looked at."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from harness.evidence.client_evidence import Frame
from harness.faults.gate.watch.logged_frame import LoggedFrame, now_ms
from harness.wire.frame_codec import request_header

FRAMES_KEPT = 20_000
"""Frames of one watch; those after them are counted and not kept."""
_CLIENT_ID = 14  # where it begins in a frame with its length: api key, version, correlation id, its own length


@dataclass(slots=True)
class ClientLog:
    """The log of clients whose ids begin alike; ``missing`` frames came when it was full."""

    frames: list[LoggedFrame] = field(default_factory=list)
    missing: int = 0


@dataclass(slots=True)
class ClientWatch:
    """All logs, by the prefix of their clients' ids; a frame that fits several stands in each under one number.

    Numbers begin at 1 when the first log is begun.
    """

    logs: dict[str, ClientLog] = field(default_factory=dict)
    _prefixes: tuple[bytes, ...] = ()
    _topic_names: dict[UUID, str] = field(default_factory=dict)
    _number: int = 0
    _too_short: list[str] = field(default_factory=list)

    def begin(self, prefixes: Iterable[str]) -> None:
        """Log clients whose ids begin so from now on; a log of that prefix is forgotten."""
        begun = list(prefixes)
        self.end(begun)
        if not self.logs:
            self._number, self._topic_names = 0, {}
        self.logs |= {prefix: ClientLog() for prefix in begun}
        self._index()

    def end(self, prefixes: Iterable[str]) -> None:
        """Log them no longer, and forget what was logged; twice is no error."""
        for prefix in prefixes:
            self._too_short += [_missing(prefix, log) for log in [self.logs.pop(prefix, None)] if log and log.missing]
        self._index()

    def frames(self, prefixes: Iterable[str]) -> list[Frame]:
        """What was logged so far of clients whose ids begin so, in the order of numbers.

        :raises KeyError: When such clients are not watched, by that prefix or a shorter one.
        """
        found = {frame.number: frame for prefix in prefixes for frame in self._of(prefix)}
        return [found[number] for number in sorted(found)]

    def errors(self) -> list[str]:
        """A sentence for each log that was too short, those that have ended included."""
        return [*self._too_short, *(_missing(prefix, log) for prefix, log in self.logs.items() if log.missing)]

    def log(self, raw: bytes, node: int, connection: int) -> LoggedFrame | None:
        """Log a request (with its length); None when its client is not watched."""
        if not self._prefixes or not _client_id(raw).startswith(self._prefixes):
            return None
        at, header = now_ms(), request_header(raw[4:])
        self._number += 1
        frame = Frame(
            number=self._number,
            at=at,
            node=node,
            connection=connection,
            client_id=header.client_id,
            api=header.api,
            version=header.version,
        )
        logged = LoggedFrame(frame, header, self._topic_names)
        logged.read(raw)
        for prefix, log in self.logs.items():
            if header.client_id.startswith(prefix):
                _append(log, logged)
        return logged

    def _of(self, prefix: str) -> list[Frame]:
        logs = [log for watched, log in self.logs.items() if prefix.startswith(watched)]
        if not logs:
            raise KeyError(f"clients {prefix}* are not watched")
        return [logged.frame for log in logs for logged in log.frames if logged.frame.client_id.startswith(prefix)]

    def _index(self) -> None:
        self._prefixes = tuple(prefix.encode() for prefix in self.logs)


def _append(log: ClientLog, logged: LoggedFrame) -> None:
    if len(log.frames) < FRAMES_KEPT:
        log.frames.append(logged)
    else:
        log.missing += 1


def _missing(prefix: str, log: ClientLog) -> str:
    return f"the log of clients {prefix}* was full: {log.missing} of their requests are missing from it"


def _client_id(raw: bytes) -> bytes:
    length = int.from_bytes(raw[_CLIENT_ID - 2 : _CLIENT_ID], "big", signed=True)
    return raw[_CLIENT_ID : _CLIENT_ID + max(length, 0)]
