"""Rules about single Kafka requests: plain values that go as JSON to the gate's process and into reports.

A rule has *when* (which requests) and *then* (what happens to them). The first rule that matches a request decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.base.json_value import Json

Epochs: TypeAlias = Literal["any", "newest", "older"]
Step: TypeAlias = Literal["", "nothing", "init", "commit", "abort", "write"]
Action: TypeAlias = Literal["hold", "hold-response", "drop-request", "drop-response", "repeat", "renumber", "lie"]

LISTED = 200
"""Strikes of a rule that are reported one by one; the rest are only counted."""
AT_MOST_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """Which requests match; an empty tuple and None leave a field open, and all that are given must fit.

    :param apis: Names in Kafka's spelling.
    :param versions: Lowest and highest request version.
    :param transactional_ids: One that ends in ``*`` is a prefix.
    :param client_ids: Of the request's header; one that ends in ``*`` is a prefix.
    :param epochs: How the request's producer id and epoch compare with the newest that the gate saw a coordinator hand
        out for its transactional id (responses to InitProducerId, and to EndTxn from v5 on). Where it saw none, the
        request matches only ``any``.
    :param transactional: Whether it carries a transactional id.
    :param adds: Whether it is an AddPartitionsToTxn that adds its first transaction's partitions, or one that only asks
        about them (``verify_only``, from v4 on, KIP-890); a request without that field adds.
    :param commits: Of EndTxn and WriteTxnMarkers, whether the (first) transaction is committed.
    :param after: Whether the gate saw this last of its (first) transactional id: an answer without an error to
        InitProducerId (``init``) or to EndTxn (``commit``, ``abort``) and no request like this one since, or one that
        writes in the transaction (``write``), or ``nothing`` at all. It looks on from when the first such rule is on.
    :param skip: Let so many of the fitting requests pass at first.
    :param every: Take each n-th of the fitting requests after those.
    :param probability: Share of the n-th ones that is taken; drawn from ``seed``.
    :param at_most: Strikes, after which nothing is taken any more.
    :param one_id: After the first one take every request of its (first) transactional id, whatever else is asked, and
        none of another.
    """

    apis: tuple[str, ...]
    versions: tuple[int, ...] = ()
    transactional_ids: tuple[str, ...] = ()
    client_ids: tuple[str, ...] = ()
    epochs: Epochs = "any"
    transactional: bool | None = None
    adds: bool | None = None
    commits: bool | None = None
    after: Step = ""
    skip: int = 0
    every: int = 1
    probability: float = 1.0
    seed: int = 0
    at_most: int | None = None
    one_id: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """An event: a response without an error passed the gate, on any proxy, for the held request's transactional id.

    :param apis: Responses to one of these.
    :param after_ms: Go on so long after the event.
    """

    apis: tuple[str, ...]
    after_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """What is done to a request.

    * ``hold``: it waits until ``until`` happens, the rule is taken off, or ``at_most_ms`` are over; a delay
      is a hold with nothing but ``at_most_ms``. It is delivered also when its sender has disconnected.
    * ``hold-response``: it is forwarded, and its response waits so; responses after it wait behind it.
    * ``drop-request``: it is never forwarded; the connection stays open.
    * ``drop-response``: it is forwarded, and its response is dropped.
    * ``repeat``: it is forwarded twice; the second response is dropped.
    * ``renumber``: it is forwarded, and its response has a correlation id that no request had.
    * ``lie``: ``lie`` names what rewrites it or its response, see :mod:`harness.faults.gate.lie`.

    :param alone: Requests after a held one overtake it; otherwise they wait behind it, as Kafka's order of a connection
        demands.
    :param waits: A ``lie`` that answers in the broker's place does so when the rule is taken off.
    :param with_: Arguments of the lie.
    :param hang_up: End the sender's connection at the strike (``drop-response``: in place of the response).
    """

    action: Action
    until: Until | None = None
    at_most_ms: int = AT_MOST_MS
    alone: bool = False
    hang_up: bool = False
    waits: bool = False
    lie: str = ""
    with_: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule on some proxies."""

    name: str
    proxies: tuple[str, ...]
    when: When
    then: Then


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """A request that a rule took, and what became of it.

    :param at_ns: Monotonic clock of this machine, at the strike.
    :param delivered_ns: When it was forwarded; None where it was not, or not yet.
    :param error: Of the broker's response (for ``repeat`` of the second one), or of the gate's in its place: the first
        error code that is not 0; None without a response.
    :param answered_ns: When its response came to the gate; None without one.
    :param fate: ``held``, ``delivered``, ``answer-held``, ``answered``, ``dropped``, ``rewritten``,
        ``lost`` (the broker's side ended). ``rewritten`` and never delivered: the gate answered in the broker's place.
    :param partitions: Of Produce that names topics, those that it writes to.
    """

    proxy: str
    api: str
    version: int
    fate: str
    at_ns: int
    delivered_ns: int | None = None
    answered_ns: int | None = None
    error: int | None = None
    transactional_ids: tuple[str, ...] = ()
    producer_id: int | None = None
    epoch: int | None = None
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleReport:
    """What a rule has done so far; kept also when it is taken off.

    :param seen: Requests of its APIs on its proxies.
    :param struck: Requests that it took; for a lie, messages that it changed.
    :param holding: Requests that wait now.
    :param unanswered: Requests that it forwarded, and whose response is still to come.
    :param unreadable: Requests of its APIs that could not be decoded, and so passed.
    """

    rule: str
    seen: int
    struck: int
    holding: int
    unanswered: int
    unreadable: int
    strikes: tuple[Strike, ...] = ()
