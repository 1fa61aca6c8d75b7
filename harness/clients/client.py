"""The port that every client adapter implements: nine verbs, each answered *done*, *refused* or *unsure*.

An adapter makes clients of one library; each client is owned by one thread. A client never raises for what a broker or
a network does: that is a result. Which error is which outcome stands in the library's own table, a reason a row
(``wire/wire_outcomes.py``, ``stdio/stdio_outcomes.py``). The rules that every
table keeps:

* *refused* only when the broker refused **and** no earlier try of the same operation went unanswered;
* an answer that never came, or a refusal that may be an echo of an earlier, unanswered try, is *unsure*;
* a read (``poll``) is never unsure: what did not arrive was not read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from harness.evidence.history.asked_request import AskedRequest
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.evidence.history.operation import Outcome, Value
from harness.wire.offered import Offered
from harness.wire.security.security import PLAINTEXT, Security

SHORTEST_SESSION_MS = 6_000
"""Kafka's default ``group.min.session.timeout.ms``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What became of a call, all its tries included; the history keeps it as it is.

    :param error: Kafka's error code, 0 for success, None where no answer came.
    :param reason: The error table's reason, or the library's message; empty for success.
    :param producer_id: As the client knows it now; None where the library does not report it.
    :param epoch: Likewise.
    :param offset: Of the written record where the broker returned it; of ``send_offsets`` the offset to be committed.
    :param tries: Requests known to have been sent.
    :param records: What ``poll`` delivered, in delivery order.
    :param state: Of a transaction that ``ask`` had described, with its partitions; empty otherwise.
    """

    outcome: Outcome
    error: int | None = 0
    reason: str = ""
    producer_id: int | None = None
    epoch: int | None = None
    offset: int | None = None
    tries: int = 1
    records: Sequence[DeliveredRecord] = ()
    state: str = ""

    @property
    def done(self) -> bool:
        """Whether it certainly happened."""
        return self.outcome is Outcome.DONE


def refused_locally(reason: str) -> CallResult:
    """The result of a call that the client itself refuses; nothing was sent."""
    return CallResult(outcome=Outcome.REFUSED, error=None, reason=reason, tries=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What a client is made with.

    :param actor: Its name in the history and as client id.
    :param bootstrap: Node id to address on this client's lane (``host:port`` as text).
    :param transactional_id: None for a client that only consumes.
    :param timeout_ms: ``transaction.timeout.ms``.
    :param request_ms: How long one operation may take, retries included; then it is unsure (or refused).
    :param group: Consumer group of ``subscribe``; None where the client never consumes.
    :param security: How clients connect on that lane.
    """

    actor: str
    lane: str
    bootstrap: Mapping[int, str]
    transactional_id: str | None = None
    timeout_ms: int = 10_000
    request_ms: int = 5_000
    group: str | None = None
    security: Security = PLAINTEXT

    @property
    def session_timeout_ms(self) -> int:
        """``session.timeout.ms`` of the group member, so that no single call outlasts its session."""
        return max(SHORTEST_SESSION_MS, self.request_ms)


class Client(Protocol):
    """One transactional client; see the module's docstring. Calls are synchronous and bounded by ``request_ms``."""

    @property
    def kind(self) -> str:
        """The adapter's name: ``wire-v2``, ``wire-v1``, ``librdkafka:2.16.1``, ``java:4.3.1``."""

    @property
    def protocol(self) -> Literal["v1", "v2"] | None:
        """The transaction protocol that it uses (KIP-890): with ``v2`` every end of a transaction bumps the epoch.

        None where that is not known; nothing that follows from the protocol is then judged of it.
        """

    def init(self) -> CallResult:
        """InitProducerId: fences every older producer of the transactional id, ends what it left open."""

    def begin(self) -> CallResult:
        """Begin a transaction (local in every client)."""

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """Write one record and wait for its acknowledgement."""

    def send_offsets(self, topic: str, partition: int, offset: int) -> CallResult:
        """Put the group's next offset of an input partition into the transaction, as the group member that we are."""

    def commit(self) -> CallResult:
        """EndTxn(commit)."""

    def abort(self) -> CallResult:
        """EndTxn(abort)."""

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """Join the group, read_committed, from the group's committed offsets or the beginning."""

    def poll(self, within_ms: int) -> CallResult:
        """Records of the assigned partitions, at most ``within_ms`` waited for; also keeps membership alive."""

    def close(self) -> CallResult:
        """Leave and close. May be called twice; never raises."""


@runtime_checkable
class AskingClient(Protocol):
    """A client that also sends what no correct one would; only one that speaks the protocol itself can."""

    def ask(self, asked: AskedRequest) -> CallResult:
        """One request as it is, once; the client's own state stays as it was, so that ``init`` comes next if it was
        taken."""


class Adapter(Protocol):
    """Makes clients of one library and one protocol; those of ``wire/`` live in Fencepost's own process."""

    @property
    def kind(self) -> str:
        """The adapter's name."""

    @property
    def protocol(self) -> Literal["v1", "v2"] | None:
        """The transaction protocol of its clients; None where that is not known."""

    def lacking(self, offered: Offered) -> str | None:
        """What a broker that advertises ``offered`` lacks for this adapter, as a sentence; None when nothing."""

    def open(self, options: ClientOptions) -> Client:
        """A client, not yet initialised; nothing is sent."""
