"""What the gate is told to do, and what it tells of it: plain values that go as JSON over a pipe and into reports.

A rule says *when* (which requests) and *then* (what happens to them). The first rule that takes a request decides.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Epochs: TypeAlias = Literal["any", "newest", "older"]
Action: TypeAlias = Literal["hold", "drop-request", "drop-response", "repeat", "lie"]

LISTED = 200
"""Strikes of a rule that are told one by one; the rest are counted."""
AT_MOST_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """Which requests; an empty tuple and None leave a field open, and all that are given must fit.

    :param apis: Names in Kafka's spelling.
    :param versions: Lowest and highest request version.
    :param transactional_ids: One that ends in ``*`` is the beginning of names.
    :param partitions: ``topic-partition``; from Produce v13 on topics go by id, so give ``<topic id>-partition`` too.
    :param epochs: How the request's identity stands to the newest one that the gate saw a coordinator hand out for its
        transactional id (answers to InitProducerId, and to EndTxn from v5 on). One of which it saw none fits only
        ``any``.
    :param commits: Of EndTxn and WriteTxnMarkers.
    :param verifies: Of AddPartitionsToTxn v4 and above: a broker's question whether partitions are in a transaction.
    :param transactional: Whether it carries a transactional id.
    :param every: Take each n-th of the fitting requests.
    :param probability: Of the n-th ones, take so many; drawn from ``seed``.
    :param at_most: Strikes, after which nothing is taken any more.
    """

    apis: tuple[str, ...]
    versions: tuple[int, ...] = ()
    client_ids: tuple[str, ...] = ()
    transactional_ids: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    producer_id: int | None = None
    epochs: Epochs = "any"
    commits: bool | None = None
    verifies: bool | None = None
    transactional: bool | None = None
    every: int = 1
    probability: float = 1.0
    seed: int = 0
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """An event: an answer to one of these APIs passed through the gate, on whichever proxy it is put into.

    :param same_id: Only where the transactional id is the held request's.
    :param succeeded: Only an answer without an error.
    :param after_ms: Go on so long after the event.
    """

    apis: tuple[str, ...]
    same_id: bool = True
    succeeded: bool = True
    after_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """What is done to a request.

    * ``hold``: it waits until ``until`` happens, the rule is released or taken off, or ``at_most_ms`` are over; a delay
      is a hold with nothing but ``at_most_ms``. It is delivered also when its sender is gone.
    * ``drop-request``: it is never forwarded; the connection stays.
    * ``drop-response``: it is forwarded, and its answer swallowed.
    * ``repeat``: it is forwarded twice; the second answer is swallowed.
    * ``lie``: ``lie`` names what rewrites it or its answer, see :mod:`harness.faults.gate.lie`.

    :param alone: Requests after a held one overtake it; otherwise they wait behind it, as on a connection they must.
    :param hang_up: End the sender's connection at the strike (``drop-response``: in the answer's place).
    """

    action: Action
    until: Until | None = None
    at_most_ms: int = AT_MOST_MS
    alone: bool = False
    hang_up: bool = False
    lie: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule on some proxies."""

    name: str
    proxies: tuple[str, ...]
    when: When
    then: Then


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """A request that was struck, and what became of it.

    :param at_ns: Monotonic clock of this machine, at the strike.
    :param delivered_ns: When it was forwarded; None where it was not, or not yet.
    :param error: Of its answer (for ``repeat`` its twin's): the first error code that is not 0; None without answer.
    :param fate: ``held``, ``delivered``, ``answered``, ``dropped``, ``lost`` (the broker's side ended), ``told``.
    """

    proxy: str
    api: str
    version: int
    client_id: str
    fate: str
    at_ns: int
    delivered_ns: int | None = None
    error: int | None = None
    transactional_ids: tuple[str, ...] = ()
    producer_id: int | None = None
    epoch: int | None = None
    partitions: tuple[str, ...] = ()
    commits: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a rule has done so far; kept also when it is taken off.

    :param seen: Requests of its APIs on its proxies.
    :param struck: Requests that it took; for a lie, those that it changed.
    :param holding: Requests that wait now.
    :param owing: Requests forwarded whose answer is still to come.
    :param unreadable: Requests of its APIs that could not be decoded, and so passed.
    """

    rule: str
    seen: int
    struck: int
    holding: int
    owing: int
    unreadable: int
    strikes: tuple[Strike, ...] = ()
