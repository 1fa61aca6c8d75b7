"""What a client under test said, and what it sent: the two halves of the evidence about a client.

A :class:`ClientCall` is one call of an adapter's protocol and its answer, in the library's own words. A :class:`Frame`
is one request of that client as it came to the gate, and what became of it. A check sets the one beside the other.

Times are milliseconds on the run's clock (:mod:`harness.base.clock`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.base.json_value import Json

Classification: TypeAlias = Literal["retriable", "abortable", "fatal", "fenced"]
AbilityName: TypeAlias = Literal["giving-up", "foreign-offsets"]
WITHOUT: Mapping[AbilityName, str] = {
    "giving-up": "sends a record of a transaction again until it is answered, however long that takes",
    "foreign-offsets": "puts offsets into a transaction only as a member of their group",
}
"""What a library does that lacks an ability; an adapter names in ``open`` those that it lacks."""
CallOutcome: TypeAlias = Literal["done", "refused", "unsure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryError:
    """An error in the library's own words.

    :param type: The exception's or the error's name.
    :param code: Kafka's error code, where the library tells it.
    :param classification: How the library classifies it; None where it does not.
    :param causes: What it wraps, outermost first.
    :param bases: Names of the library's own types that its type extends, nearest first.
    """

    type: str
    message: str = ""
    code: int | None = None
    classification: Classification | None = None
    causes: Sequence["LibraryError"] = ()
    bases: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What became of one record that was handed to the library."""

    topic: str
    partition: int
    value: str
    outcome: CallOutcome
    offset: int | None = None
    error: LibraryError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRecord:
    """A record that a consumer delivered."""

    topic: str
    partition: int
    offset: int
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The offset that a consumer reads next, after what it delivered."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCall:
    """One call to a client and its answer.

    :param name: The step's name; a check finds it by that.
    :param call: The protocol's word: ``init``, ``produce``, ``commit`` …
    :param application: Which of the requirement's applications was called; its client id on the wire ends in it.
    :param values: Of ``produce``: the records' values.
    :param deliveries: Results of records that the library reported with this answer.
    """

    name: str
    call: str
    application: str
    outcome: CallOutcome
    started: float
    answered: float
    error: LibraryError | None = None
    values: Sequence[str] = ()
    deliveries: Sequence[Delivery] = ()
    records: Sequence[ReadRecord] = ()
    positions: Sequence[Position] = ()

    @property
    def done(self) -> bool:
        """Whether the library reports success."""
        return self.outcome == "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducedBatch:
    """A record batch in a Produce request; its records are ``base_sequence`` … ``base_sequence + count - 1``."""

    topic: str
    partition: int
    producer_id: int
    epoch: int
    base_sequence: int
    count: int
    transactional: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A request of a client as it came to the gate, and what became of it.

    :param number: In the order in which requests came to the gate, from 1.
    :param node: The broker to which it was sent.
    :param connection: Numbers the connections at the gate; requests of one connection share it.
    :param batches: Of Produce: its batches, in the order of the request.
    :param request: Key fields of a request that is not Produce, in snake case: ``committed``, ``group_id``,
        ``key_type``, ``transaction_timeout_ms``; partitions as ``["topic-0", …]``.
    :param errors: Every error code of the answer, as its client got it, in the order of the schema; () without one.
    :param answered_by: ``broker``, ``gate`` (in the broker's place, or after the gate changed the answer), or empty
        when the client got no answer.
    :param answer: Key fields of the answer: ``producer_id`` and ``producer_epoch`` that InitProducerId and EndTxn give.
    """

    number: int
    at: float
    node: int
    connection: int
    client_id: str
    api: str
    version: int
    transactional_ids: tuple[str, ...] = ()
    producer_id: int | None = None
    epoch: int | None = None
    batches: tuple[ProducedBatch, ...] = ()
    request: Mapping[str, Json] = field(default_factory=dict)
    answered: float | None = None
    errors: tuple[int, ...] = ()
    answered_by: Literal["broker", "gate", ""] = ""
    answer: Mapping[str, Json] = field(default_factory=dict)

    @property
    def error(self) -> int | None:
        """The first error code of the answer that is not 0, else 0; None without an answer."""
        return next((code for code in self.errors if code), 0) if self.answered is not None else None
