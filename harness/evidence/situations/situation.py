"""What a situation is: the state of a transactional id, the request under way for it, and the fault that struck then.

The two tables here are all there is to add to: :data:`PAIRS`, which states meet which requests, and :data:`NAMED`,
situations that no pair tells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

INIT, ADD, PRODUCE = "InitProducerId", "AddPartitionsToTxn", "Produce"
ADD_OFFSETS, COMMIT_OFFSETS, END = "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"
MARKERS, VERIFICATION, NOTHING = "WriteTxnMarkers", "a leader's AddPartitionsToTxn", "nothing"
UNKNOWN = "unknown"
"""The state of an id of which the coordinator has written nothing yet."""

REQUESTS = {
    INIT: "a client asks for its producer id",
    ADD: "a client writes to a partition that is not in the transaction yet; it or the leader adds it (KIP-890)",
    PRODUCE: "a client writes to partitions in the transaction; to any while it is open, where a request names none",
    ADD_OFFSETS: "a client sends offsets, and the group is not in the transaction yet",
    COMMIT_OFFSETS: "a client sends offsets, and the group is in the transaction",
    END: "a client commits or aborts",
    MARKERS: "the gate had the coordinator's markers and had not passed them on",
    VERIFICATION: "the gate had a leader's question to the coordinator, or its addition, and had not passed it on",
    NOTHING: "no client's operation is under way",
}
"""Each request, and what shows that it is under way."""

PAIRS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (UNKNOWN, (INIT,)),
    ("Empty", (NOTHING, INIT, ADD, VERIFICATION)),
    ("Ongoing", (NOTHING, INIT, ADD, PRODUCE, ADD_OFFSETS, COMMIT_OFFSETS, END, VERIFICATION)),
    ("PrepareCommit", (NOTHING, INIT, ADD, END, MARKERS, VERIFICATION)),
    ("PrepareAbort", (NOTHING, INIT, ADD, END, MARKERS, VERIFICATION)),
    ("CompleteCommit", (NOTHING, INIT, ADD, END, VERIFICATION)),
    ("CompleteAbort", (NOTHING, INIT, ADD, END, VERIFICATION)),
)
"""States in Kafka's words (``TransactionState``) with the requests that a round may show in them."""
OF_GROUPS = (ADD_OFFSETS, COMMIT_OFFSETS)
"""Requests that only a workload with a consumer group makes."""

MOVED_OPEN = "coordinator-moved-open"
MOVED_PREPARED = "coordinator-moved-prepared"
LEADER_MOVED_OPEN = "leader-moved-open"
MARKER_IN_FLIGHT = "marker-in-flight"
VERIFICATION_PENDING = "verification-pending"
FENCED_WHILE_ENDING = "fenced-while-ending"
NAMED = {
    MOVED_OPEN: "a transaction was open when a fault struck, and another coordinator went on with it",
    MOVED_PREPARED: "the prepare record was written when a fault struck, and another coordinator wrote what came next",
    LEADER_MOVED_OPEN: "a partition's leader changed at a fault, and a transaction was open on it before and after",
    MARKER_IN_FLIGHT: "markers were between coordinator and leader when another fault struck",
    VERIFICATION_PENDING: "a leader's question to the coordinator was under way when another fault struck",
    FENCED_WHILE_ENDING: "a fault struck while one client ended a transaction and another one asked for the same id",
}
"""Situations that have a name, and what shows each."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Situation:
    """One cell of the table."""

    state: str
    request: str
    fault: str


def leader_adds(situation: Situation) -> bool:
    """Whether a leader adds the partition itself, with a client of Transactions V2 (KIP-890).

    One of V1 has added it before, so that the transaction is open when the leader asks.
    """
    return situation.request == VERIFICATION and situation.state != "Ongoing"


def pairs(*, groups: bool) -> Iterator[tuple[str, str]]:
    """Every pair of the table, with those that take a consumer group or without them."""
    for state, requests in PAIRS:
        yield from ((state, request) for request in requests if groups or request not in OF_GROUPS)


def wanted(faults: Mapping[str, Sequence[str]], *, groups: bool) -> frozenset[Situation]:
    """What rounds with these faults may show.

    :param faults: By name the requests that each strikes; none for one that strikes whatever is there.
    """
    every = list(pairs(groups=groups))
    return frozenset(
        Situation(state=state, request=request, fault=fault)
        for fault, requests in faults.items()
        for state, request in every
        if not requests or request in requests
    )
