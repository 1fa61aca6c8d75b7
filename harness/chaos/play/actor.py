"""An actor: a recording client that plays a role until the time is over, and gives way to a successor after doubt.

A write that is unsure leaves the client's own idea of its transaction in doubt. The actor still tries to abort (as an
application does), is retired, and a successor with a new name and a new client takes the role over: its ``init`` fences
whatever the old one left. Nobody waits for good: every call is bounded by the client's ``request_ms``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event

from harness.base import wait
from harness.chaos.plan.scenario import Role
from harness.clients.client import CallResult
from harness.clients.recording_client import RecordingClient
from harness.evidence.operation import Outcome

TXNS_A_ROLE = 10_000_000
"""Transaction numbers of a role begin at its own multiple of this, so that they depend on the role alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordToWrite:
    """One record to write: the topic in the workload's words."""

    topic: str
    partition: int
    payload: str = ""


@dataclass(slots=True, kw_only=True)
class Actor:
    """A role being played.

    :param open_client: A fresh recording client under a name.
    :param stop: Set when the time is over.
    :param in_doubt: Whether a write of the present actor was unsure; it must not write another.
    """

    role: Role
    index: int
    open_client: Callable[[str], RecordingClient]
    topics: dict[str, str]
    stop: Event
    client: RecordingClient = field(init=False)
    incarnation: int = 0
    txns: int = 0
    committed: int = 0
    in_doubt: bool = False
    _fresh: bool = False

    def __post_init__(self) -> None:
        """The first actor of the role enters."""
        self._enter()

    @property
    def over(self) -> bool:
        """Whether the role is to end."""
        return self.stop.is_set()

    def pause(self, seconds: float) -> None:
        """Let time pass, but not beyond the end."""
        self.stop.wait(seconds)

    def transact(
        self,
        writings: Sequence[RecordToWrite],
        *,
        commit: bool = True,
        between: Callable[[], None] = lambda: None,
        offsets: Sequence[tuple[str, int, int]] = (),
    ) -> bool:
        """One transaction to its end: committed, aborted as planned, or given up. True when it certainly committed.

        :param between: Called between two records.
        :param offsets: Real topic, partition and next offset of inputs that the transaction consumed.
        """
        if not self.begin(len(writings)):
            return False
        for writing in writings:
            if not self.write(writing):
                return self.give_up()
            between()
        for topic, partition, offset in offsets:
            if not self._sure(self.client.send_offsets(topic, partition, offset)):
                return self.give_up()
        return self.end(commit=commit)

    def begin(self, size: int) -> bool:
        """Begin, initialising first where the client is new; False when it cannot."""
        if not self._fresh and not self._init():
            return False
        self.txns += 1
        return self.client.begin(self.index * TXNS_A_ROLE + self.txns, size).done

    def write(self, writing: RecordToWrite) -> bool:
        """Write the next record; False when the transaction must be given up."""
        return self._sure(self.client.produce(self.topics[writing.topic], writing.partition, writing.payload))

    def end(self, *, commit: bool, retire: bool = False) -> bool:
        """Commit or abort as planned; True when it certainly committed. Retires if told, or if it did not work."""
        answer = self.client.commit() if commit else self.client.abort()
        if retire or not answer.done:
            self.succeed()
        self.committed += commit and answer.done
        return commit and answer.done

    def give_up(self) -> bool:
        """Abort after a write that was refused or unsure, then give way; always False."""
        self.client.abort()
        self.succeed()
        return False

    def vanish(self) -> None:
        """Leave the transaction as it is, as a process that dies does; the successor is not initialised yet."""
        self.succeed()

    def succeed(self) -> None:
        """Retire; a successor with a new name goes on."""
        self.client.close()
        self._enter()

    def leave(self) -> None:
        """The role's end."""
        self.client.close()

    def _enter(self) -> None:
        self.incarnation += 1
        name = self.role.name if self.incarnation == 1 else f"{self.role.name}.{self.incarnation}"
        self.client = self.open_client(name)
        self._fresh = self.in_doubt = False

    def _init(self) -> bool:
        self._fresh = self.client.init().done
        if not self._fresh:
            self.succeed()
            wait.pause(0.05)  # a coordinator that is away is not asked a thousand times a second
        return self._fresh

    def _sure(self, answer: CallResult) -> bool:
        self.in_doubt = self.in_doubt or answer.outcome is Outcome.UNSURE
        return answer.done
