"""The events of a chaos run: operations with three outcomes, faults, and what was read, on one clock.

An operation is *done* (it happened), *refused* (it did not and never will) or *unsure* (the answer was lost, or came
from a hidden retry). Which of the three an answer is, each client library's error table decides
once. Malformed events are refused here, where they are made.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias, get_args

Verb: TypeAlias = Literal[
    "init", "begin", "produce", "send_offsets", "commit", "abort", "subscribe", "poll", "close", "ask"
]
VERBS: tuple[Verb, ...] = get_args(Verb)
"""The nine verbs of the client port, in Kafka's words, and ``ask``: one request as it is, outside of all rules."""


class Outcome(StrEnum):
    """What became of an operation."""

    DONE = "done"
    REFUSED = "refused"
    UNSURE = "unsure"


class MalformedEvent(ValueError):
    """An event that cannot have happened; the text is why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a record carries: its transaction, its ordinal in it, how many the transaction writes, and a payload.

    Every value of a run is unique by ``(txn, ordinal)``, so that a reader's record identifies its write by itself.
    Payloads: ``money:<account>:<+/-amount>`` (the amounts of a transaction sum to 0),
    ``relay:<topic>-<partition>@<offset>`` (made from that input record), or anything else, which only has to come back
    unchanged.

    >>> str(Value(txn=7, ordinal=0, size=2, payload="money:a:-5"))
    '7/0/2/money:a:-5'
    >>> Value.parse("7/0/2/money:a:-5").txn
    7
    >>> Value.parse("something else") is None
    True
    """

    txn: int
    ordinal: int
    size: int
    payload: str = ""

    def __str__(self) -> str:
        return f"{self.txn}/{self.ordinal}/{self.size}/{self.payload}"

    @classmethod
    def parse(cls, text: str) -> "Value | None":
        """The value, or None for a text that no workload of ours writes."""
        found = VALUE.fullmatch(text)
        if found is None:
            return None
        txn, ordinal, size, payload = found.groups()
        return cls(txn=int(txn), ordinal=int(ordinal), size=int(size), payload=payload)


VALUE = re.compile(r"(\d+)/(\d+)/(\d+)/(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One call of one verb by one actor. A ``produce`` writes exactly one record; times are run-clock milliseconds.

    :param number: From 1, in the order in which operations began; unique in a run.
    :param actor: Who; an actor is retired after an unsure write, and its successor has another name.
    :param client: The adapter: ``wire-v2``, ``wire-v1``, ``librdkafka``.
    :param error: Kafka's error code of the last answer, 0 for success, None where no answer came.
    :param reason: The row of the client's error table, or the library's own text.
    :param txn: The transaction's number, unique in a run; None outside one.
    :param producer_id: As the client knows it after the operation; for ``init`` and ``ask`` what the answer told.
    :param epoch: Likewise. ``commit`` and ``abort`` of Transactions V2 give the epoch that is to be used next.
    :param topic: Where a record was written, or the input of ``send_offsets``; with ``partition``.
    :param offset: Of the acknowledged record (None when unknown), or the offset to be committed (next to be read).
    :param ordinal: The record's place in its transaction, from 0.
    :param size: How many records the transaction means to write; on ``begin`` and ``produce``.
    :param tries: Requests that the adapter knows it sent for this operation.
    :param protocol: The transaction protocol that the client speaks (KIP-890); None where it is not known.
    :param timeout_ms: On ``init`` the ``transaction.timeout.ms`` that was asked for; None where it is not known.
    :param request: On ``ask`` what was asked: an :class:`harness.evidence.history.asked_request.AskedRequest` as JSON.
    :param state: The transaction's state that a coordinator described, and its partitions (``Ongoing with t-0+t-1``).
    """

    number: int
    actor: str
    client: str
    verb: Verb
    started: float
    ended: float
    outcome: Outcome
    error: int | None = 0
    reason: str = ""
    transactional_id: str | None = None
    txn: int | None = None
    producer_id: int | None = None
    epoch: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    ordinal: int | None = None
    size: int | None = None
    payload: str | None = None
    group: str | None = None
    count: int | None = None
    tries: int = 1
    protocol: Literal["v1", "v2"] | None = None
    timeout_ms: int | None = None
    request: str | None = None
    state: str | None = None

    def __post_init__(self) -> None:
        """:raises MalformedEvent: For an operation that cannot have happened."""
        if self.ended < self.started:
            raise MalformedEvent(f"operation {self.number} ends at {self.ended} before it starts at {self.started}")
        if self.verb not in VERBS:
            raise MalformedEvent(f"operation {self.number} has no such verb: {self.verb}")
        if lacking := [name for name in NEEDED.get(self.verb, ()) if getattr(self, name) is None]:
            raise MalformedEvent(f"operation {self.number} ({self.verb}) lacks {', '.join(lacking)}")
        if self.outcome is Outcome.REFUSED and not self.error and not self.reason:
            raise MalformedEvent(f"operation {self.number} was refused without a reason")


NEEDED: dict[str, tuple[str, ...]] = {
    "begin": ("txn", "size"),
    "produce": ("topic", "partition"),
    "send_offsets": ("txn", "group", "topic", "partition", "offset"),
    "commit": ("txn",),
    "abort": ("txn",),
    "init": ("transactional_id",),
    "poll": ("count",),
    "ask": ("transactional_id", "request"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultWindow:
    """A fault on the run's clock. ``struck`` counts what it did (bytes held, frames dropped, leaders moved).

    :param ended: When it was healed.
    :param how: What was counted, in words; the proof that it struck.
    :param moved: Partitions that another broker came to lead meanwhile, by name, with blanks between them; None where
        it may be any, as for a broker that is away.
    :param clock_off_ms: By how much the clock of a broker was ahead meanwhile; below 0 it was behind.
    """

    name: str
    kind: str
    where: str
    started: float
    ended: float
    struck: int
    how: str
    moved: str | None = None
    clock_off_ms: int | None = None

    def __post_init__(self) -> None:
        """:raises MalformedEvent: For a window that ends before it begins, or a negative count."""
        if self.ended < self.started or self.struck < 0:
            raise MalformedEvent(f"fault {self.name} from {self.started} to {self.ended} struck {self.struck} times")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A stretch of the run: ``calm``, ``storm``, ``heal``, ``settle``."""

    name: str
    started: float
    ended: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkSample:
    """High watermark and last stable offset of a partition at one moment, read over the observer's lane."""

    at: float
    topic: str
    partition: int
    high_watermark: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One record or control marker of the raw log, as read_uncommitted Fetch gave it after the run had settled.

    :param batch_offset: Base offset of its batch.
    :param sequence: Of this record (base sequence + place in batch); -1 for a marker.
    :param control: ``COMMIT``, ``ABORT``, or None for a record.
    :param value: As text; None for a marker.
    """

    topic: str
    partition: int
    offset: int
    batch_offset: int
    producer_id: int
    epoch: int
    sequence: int
    transactional: bool
    control: Literal["COMMIT", "ABORT"] | None = None
    coordinator_epoch: int | None = None
    value: str | None = None
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One record as a reader delivered it to its application.

    :param reader: Who read; its kind and isolation stand in the ``readers`` table.
    :param position: Order within the reader, from 0; None for a reader that delivers without order (Spark).
    :param at: When, for a reader that ran beside the workload.
    """

    reader: str
    topic: str
    partition: int
    offset: int
    value: str
    position: int | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderEnd:
    """How far a reader came on a partition.

    :param kind: ``wire``, ``librdkafka``, ``spark`` (all read to the end), or ``actor`` (a workload's own consumer).
    :param isolation: ``read_committed`` or ``read_uncommitted``.
    :param end_offset: The offset that it would read next.
    :param wanted: Where it had to come: the high watermark when the waiting began; None where nothing was asked of it.
    :param waited_ms: How long it was waited for.
    """

    reader: str
    kind: Literal["wire", "librdkafka", "spark", "actor"]
    isolation: Literal["read_committed", "read_uncommitted"]
    topic: str
    partition: int
    end_offset: int
    wanted: int | None = None
    waited_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionEnd:
    """What the broker says of a partition after the run has settled (ListOffsets, latest, both isolation levels)."""

    at: float
    topic: str
    partition: int
    log_start_offset: int
    high_watermark: int
    last_stable_offset: int
    leader: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenProducer:
    """A producer state that the leader keeps after settling (DescribeProducers, KIP-664); null: not told."""

    topic: str
    partition: int
    producer_id: int
    epoch: int
    transaction_start_offset: int
    last_timestamp_ms: int
    last_sequence: int | None = None
    coordinator_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTransaction:
    """What a coordinator keeps for a transactional id after settling (DescribeTransactions, KIP-664).

    :param listed: State and producer id by which ListTransactions has the id, separated by a blank; empty where no
        broker lists it, separated by commas where several do; null: not every broker told.
    :param recorded: State, producer id, epoch and timeout in the id's last record in ``__transaction_state``, the next
        producer id that a record of what was over names (-1 for none), and of a completed transaction the start (else
        -1); null: it was not read.
    :param protocol: That its last record names (KIP-890): ``v2`` where ``ClientTransactionVersion`` is 2, else ``v1``.
    """

    transactional_id: str
    state: str
    producer_id: int
    epoch: int
    timeout_ms: int
    started_ms: int
    partitions: str
    listed: str | None = None
    recorded: str | None = None
    protocol: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffset:
    """A group's committed offset on an input partition after settling (OffsetFetch); -1 where there is none."""

    group: str
    topic: str
    partition: int
    offset: int
