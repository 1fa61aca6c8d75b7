"""The port that every client adapter fills: nine verbs, each answered *done*, *refused* or *unsure*.

An adapter is one client of one library, owned by one thread. It never raises for what a broker or a network does: that
is an answer. Which error is which outcome stands in the adapter's own table, a reason a row (``harness/clients/
outcomes/<library>.py``). The rules that every table keeps:

* *refused* only when the broker said no **and** no earlier try of the same operation went unanswered;
* an answer that never came, or a refusal that may be an echo of an earlier, unanswered try, is *unsure*;
* a read (``poll``) is never unsure: what did not arrive was not read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.evidence.operation import Outcome, Value
from harness.wire.offered import Offered


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What became of a call.

    :param error: Kafka's error code, 0 for success, None where no answer came.
    :param reason: The error table's reason, or the library's words; empty for success.
    :param producer_id: As the client knows it now (None where the library does not tell).
    :param epoch: Likewise.
    :param offset: Of the written record, where the broker told it.
    :param tries: Requests known to have been sent.
    """

    outcome: Outcome
    error: int | None = 0
    reason: str = ""
    producer_id: int | None = None
    epoch: int | None = None
    offset: int | None = None
    tries: int = 1

    @property
    def done(self) -> bool:
        """Whether it certainly happened."""
        return self.outcome is Outcome.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """Records that a poll delivered: topic, partition, offset, value as text; in delivery order."""

    answer: CallResult
    records: Sequence[tuple[str, int, int, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What a client is made with.

    :param actor: Its name in the history and as client id.
    :param bootstrap: Node id to address on this client's lane (``host:port`` as text).
    :param transactional_id: None for a client that only consumes.
    :param timeout_ms: ``transaction.timeout.ms``.
    :param request_ms: How long one operation may take, retries included; then it is unsure (or refused).
    :param group: Consumer group of ``subscribe``; None where the client never consumes.
    """

    actor: str
    lane: str
    bootstrap: Mapping[int, str]
    transactional_id: str | None = None
    timeout_ms: int = 10_000
    request_ms: int = 5_000
    group: str | None = None


class Client(Protocol):
    """One transactional client; see the module's docstring. Calls are synchronous and bounded by ``request_ms``."""

    @property
    def kind(self) -> str:
        """The adapter's name: ``wire-v2``, ``wire-v1``, ``librdkafka``."""
        ...

    def init(self) -> CallResult:
        """InitProducerId: fences every older producer of the transactional id, ends what it left open."""
        ...

    def begin(self) -> CallResult:
        """Begin a transaction (local in every client)."""
        ...

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """Write one record and wait for its acknowledgement."""
        ...

    def send_offsets(self, topic: str, partition: int, offset: int) -> CallResult:
        """Put the group's next offset of an input partition into the transaction, as the group member that we are."""
        ...

    def commit(self) -> CallResult:
        """EndTxn(commit)."""
        ...

    def abort(self) -> CallResult:
        """EndTxn(abort)."""
        ...

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """Join the group, read_committed, from the group's committed offsets or the beginning."""
        ...

    def poll(self, within_ms: int) -> Polled:
        """Records of the assigned partitions, at most ``within_ms`` waited for; also keeps membership alive."""
        ...

    def close(self) -> CallResult:
        """Leave and close. May be called twice; never raises."""
        ...


class Adapter(Protocol):
    """Makes clients of one library; each adapter's module binds one as ``ADAPTER``."""

    @property
    def kind(self) -> str:
        """The adapter's name."""
        ...

    def lacking(self, offered: Offered) -> str | None:
        """What a broker that advertises ``offered`` lacks for this adapter, in words; None when nothing."""
        ...

    def open(self, options: ClientOptions) -> Client:
        """A client, not yet initialised; nothing is sent."""
        ...
