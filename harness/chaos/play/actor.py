"""An actor: a recording client that runs a role until the time is over, and is replaced once it is in doubt.

A write that is unsure leaves the client's own state of its transaction in doubt. The actor still tries to abort (as an
application does), is retired, and a successor with a new name and a new client goes on: its ``init`` fences what
the old one left. Nothing waits without a bound: every call is bounded by the client's ``request_ms``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event

from harness.base import wait
from harness.chaos.plan.record_to_write import RecordToWrite
from harness.clients.client import CallResult
from harness.clients.recording_client import RecordingClient
from harness.evidence.history.asked_request import AskedRequest
from harness.evidence.history.operation import Outcome

TXNS_PER_ROLE = 10_000_000
"""Transaction numbers of a role begin at its own multiple of this, so that they depend on the role alone."""
INIT_PAUSE_SECONDS = 0.05
"""After a failed ``init``, so that a coordinator that is away is not asked a thousand times a second."""


def successor_name(name: str, nth: int) -> str:
    """Of the nth client of a role, from 1; likewise of its transactional id where each has one of its own."""
    return name if nth == 1 else f"{name}.{nth}"


@dataclass(slots=True, kw_only=True)
class Actor:
    """The client that runs a role now.

    :param role: The role's name.
    :param open_client: A fresh recording client under a name.
    :param topics: The real name by the workload's name.
    :param stop: Set when the time is over.
    :param most_txns: Transactions after which it begins no other.
    :param incarnation: Number of the present client, from 1.
    :param in_doubt: Whether a write of the present client was unsure; it must not write another.
    """

    role: str
    index: int
    open_client: Callable[[str], RecordingClient]
    topics: dict[str, str]
    stop: Event
    most_txns: int | None = None
    client: RecordingClient = field(init=False)
    incarnation: int = 0
    txns: int = 0
    committed: int = 0
    in_doubt: bool = False
    _initialised: bool = False

    def __post_init__(self) -> None:
        self._open()

    @property
    def over(self) -> bool:
        return self.stop.is_set() or self.txns == self.most_txns

    def pause(self, seconds: float) -> None:
        """Let time pass, but not beyond the end."""
        self.stop.wait(seconds)

    def transact(
        self,
        records: Sequence[RecordToWrite],
        *,
        commit: bool = True,
        between_records: Callable[[], None] = lambda: None,
        offsets: Sequence[tuple[str, int, int]] = (),
    ) -> bool:
        """One transaction to its end: committed, aborted as planned, or given up. True when it certainly committed.

        :param offsets: Real topic, partition and next offset of inputs that the transaction consumed.
        """
        if not self.begin(len(records)):
            return False
        for record in records:
            if not self.write(record):
                return self.give_up()
            between_records()
        for topic, partition, offset in offsets:
            if not self._sure(self.client.send_offsets(topic, partition, offset)):
                return self.give_up()
        return self.end(commit=commit)

    def begin(self, size: int) -> bool:
        """Begin, initialising first where the client is new; False when it cannot, and then a successor goes on."""
        if self.txns == self.most_txns or (not self._initialised and not self._init()):
            return False
        self.txns += 1
        begun = self.client.begin(self.index * TXNS_PER_ROLE + self.txns, size).done
        if not begun:
            self.retire()
        return begun

    def write(self, record: RecordToWrite) -> bool:
        """Write the next record; False when the transaction must be given up."""
        return self._sure(self.client.produce(self.topics[record.topic], record.partition, record.payload))

    @property
    def identity(self) -> tuple[int, int]:
        """Producer id and epoch of the present client; -1 where it has none."""
        return self.client.identity

    @property
    def bumps_epoch(self) -> bool:
        """Whether each end of a transaction raises its epoch (Transactions V2), as far as it is known."""
        return self.client.client.protocol == "v2"

    @property
    def can_ask(self) -> bool:
        """Whether the client also sends what it does not want to."""
        return self.client.can_ask

    def ask(self, asked: AskedRequest) -> CallResult | None:
        """One request as it is; None where the client sends only what it wants to."""
        return self.client.ask(asked) if self.can_ask else None

    def init_again(self) -> bool:
        """A new epoch, which fences what the present client has asked so far; else a successor goes on."""
        return self._init()

    def end(self, *, commit: bool, retire: bool = False) -> bool:
        """Commit or abort as planned; True when it certainly committed. Retires if asked to, or if it did not work."""
        result = self.client.commit() if commit else self.client.abort()
        if retire or not result.done:
            self.retire()
        self.committed += commit and result.done
        return commit and result.done

    def give_up(self) -> bool:
        """Abort after a write that was refused or unsure, then retire; always False."""
        self.client.abort()
        self.retire()
        return False

    def retire(self) -> None:
        """Close the client; a successor with a new name goes on. An open transaction stays as it is."""
        self.client.close()
        self._open()

    def close(self) -> None:
        self.client.close()

    def _open(self) -> None:
        self.incarnation += 1
        self.client = self.open_client(successor_name(self.role, self.incarnation))
        self._initialised = self.in_doubt = False

    def _init(self) -> bool:
        self._initialised = self.client.init().done
        if not self._initialised:
            self.retire()
            wait.pause(INIT_PAUSE_SECONDS)
        return self._initialised

    def _sure(self, result: CallResult) -> bool:
        self.in_doubt = self.in_doubt or result.outcome is Outcome.UNSURE
        return result.done
