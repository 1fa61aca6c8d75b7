"""What situations are derived from, as a round records it; times are milliseconds on the run's clock.

* :class:`StateRecord`: the coordinators' own log. Brokers stamp its records with whole milliseconds when they append
  them (``TransactionStateManager.appendTransactionToLog``), so a state holds for certain from a millisecond later.
* :class:`FaultMoment`: within which a fault struck, or one request that it struck.
* :class:`HeldRequest`: a request that the gate had, from when it came until it was passed on.
* :class:`LeaderTerm`: the first and last control marker that a partition's leader of one epoch appended.
* :class:`UnderWay`: an operation of a client.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRecord:
    """A record of ``__transaction_state``.

    :param partitions: In the transaction, by name.
    :param leader_epoch: Of the partition of the coordinators' log when it was appended: another one is another term.
    """

    at: float
    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    leader_epoch: int
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultMoment:
    """``since`` and ``upto`` are the same for a request that was struck.

    :param api: Of the request that was struck, else empty; then the fault struck whatever was there.
    :param link: Whether that request was one of a broker to another.
    :param partitions: Of a Produce that was struck, where they are known.
    """

    fault: str
    since: float
    upto: float
    api: str = ""
    link: bool = False
    transactional_ids: tuple[str, ...] = ()
    producer_id: int | None = None
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRequest:
    """``fault`` is the toxic that held it, or the moment that a fault waited for; ``partitions`` as above."""

    fault: str
    api: str
    link: bool
    since: float
    upto: float
    transactional_ids: tuple[str, ...] = ()
    producer_id: int | None = None
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderTerm:
    """Both are times of the leader itself."""

    partition: str
    epoch: int
    first_marker: float
    last_marker: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """``partition`` is the name of the one that a record was written to."""

    actor: str
    transactional_id: str
    verb: str
    started: float
    ended: float
    partition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecords:
    """All of a round."""

    states: tuple[StateRecord, ...] = ()
    moments: tuple[FaultMoment, ...] = ()
    held: tuple[HeldRequest, ...] = ()
    terms: tuple[LeaderTerm, ...] = ()
    operations: tuple[UnderWay, ...] = field(default=())
