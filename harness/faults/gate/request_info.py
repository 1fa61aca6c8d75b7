"""What a decoded request says, whatever its API and version: whose it is, about which partitions, and what for.

The shapes follow Kafka's message schemas (``ProduceRequest.json`` and its like). A producer's identity stands in the
record batches of Produce, and in the body of everything else.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import RequestHeader
from harness.wire.records.batch_rewrite import identities


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestInfo:
    """A request in the words that rules use; ``identities`` are pairs of producer id and epoch."""

    head: RequestHeader
    transactional_ids: tuple[str, ...] = ()
    identities: tuple[tuple[int, int], ...] = ()
    partitions: tuple[str, ...] = ()
    commits: bool | None = None
    verifies: bool | None = None
    readable: bool = True


@dataclass(slots=True)
class LatestEpochs:
    """The newest identity that a coordinator handed out for each transactional id, as far as its answers were seen."""

    known: dict[str, tuple[int, int]] = field(default_factory=dict)

    def learn(self, facts: RequestInfo, answer: object) -> None:
        """Take what an answer to InitProducerId or EndTxn (v5+) hands out; an error hands out nothing."""
        told = ResponseFields(answer)
        identity = told.number("producer_id"), told.number("producer_epoch")
        if told.error() == 0 and min(identity) >= 0:
            self.known.update(dict.fromkeys(facts.transactional_ids, identity))

    def standing(self, facts: RequestInfo) -> str:
        """``newest``, ``older``, or ``unknown`` where nothing is known to compare with."""
        known = [self.known[one] for one in facts.transactional_ids if one in self.known]
        if not known or not facts.identities:
            return "unknown"
        return "newest" if all(identity in known for identity in facts.identities) else "older"


TEACHERS = ("InitProducerId", "EndTxn")
"""APIs whose answers hand out identities."""


def request_info(head: RequestHeader, body: object) -> RequestInfo:
    """The request's facts; of an API that rules have no words for, the heading alone."""
    return SAYS.get(head.api, _plain)(head, ResponseFields(body))


def _plain(head: RequestHeader, said: ResponseFields) -> RequestInfo:
    """InitProducerId, AddOffsetsToTxn, EndTxn: one producer's own fields."""
    return RequestInfo(head=head, transactional_ids=_ids([said]), identities=_identities([said]))


def _produce(head: RequestHeader, said: ResponseFields) -> RequestInfo:
    parts = [(topic, part) for topic in said.parts("topic_data") for part in topic.parts("partition_data")]
    batches = [who for _, part in parts for who in identities(part.octets("records"))]
    return RequestInfo(
        head=head,
        transactional_ids=_ids([said]),
        identities=tuple({(who.producer_id, who.epoch): None for who in batches}),
        partitions=tuple(f"{_topic(topic)}-{part.number('index')}" for topic, part in parts),
    )


def _end_txn(head: RequestHeader, said: ResponseFields) -> RequestInfo:
    commits = bool(said.number("committed", 0))
    return RequestInfo(head=head, transactional_ids=_ids([said]), identities=_identities([said]), commits=commits)


def _add_partitions(head: RequestHeader, said: ResponseFields) -> RequestInfo:
    prefix = "v3_and_below_"
    if not said.has("transactions"):
        return RequestInfo(
            head=head,
            transactional_ids=_ids([said], prefix),
            identities=_identities([said], prefix),
            partitions=_listed(said.parts(f"{prefix}topics")),
            verifies=False,
        )
    each = said.parts("transactions")
    return RequestInfo(
        head=head,
        transactional_ids=_ids(each),
        identities=_identities(each),
        partitions=tuple(name for one in each for name in _listed(one.parts("topics"))),
        verifies=any(one.number("verify_only", 0) for one in each),
    )


def _txn_offset_commit(head: RequestHeader, said: ResponseFields) -> RequestInfo:
    named = [(topic, part) for topic in said.parts("topics") for part in topic.parts("partitions")]
    return RequestInfo(
        head=head,
        transactional_ids=_ids([said]),
        identities=_identities([said]),
        partitions=tuple(f"{_topic(topic)}-{part.number('partition_index')}" for topic, part in named),
    )


def _markers(head: RequestHeader, said: ResponseFields) -> RequestInfo:
    each = said.parts("markers")
    results = {bool(one.number("transaction_result", 0)) for one in each}
    return RequestInfo(
        head=head,
        identities=_identities(each),
        partitions=tuple(name for one in each for name in _listed(one.parts("topics"), "partition_indexes")),
        commits=results.pop() if len(results) == 1 else None,
    )


def _fetch(head: RequestHeader, said: ResponseFields) -> RequestInfo:
    named = [(topic, part) for topic in said.parts("topics") for part in topic.parts("partitions")]
    field_name = "partition_index" if head.api == "ListOffsets" else "partition"
    return RequestInfo(
        head=head, partitions=tuple(f"{_topic(topic)}-{part.number(field_name)}" for topic, part in named)
    )


SAYS: Mapping[str, Callable[[RequestHeader, ResponseFields], RequestInfo]] = {
    "Produce": _produce,
    "EndTxn": _end_txn,
    "AddPartitionsToTxn": _add_partitions,
    "TxnOffsetCommit": _txn_offset_commit,
    "WriteTxnMarkers": _markers,
    "Fetch": _fetch,
    "ListOffsets": _fetch,
}


def _ids(parts: Iterable[ResponseFields], prefix: str = "") -> tuple[str, ...]:
    return tuple(found for part in parts if (found := part.text(f"{prefix}transactional_id")))


def _identities(parts: Iterable[ResponseFields], prefix: str = "") -> tuple[tuple[int, int], ...]:
    return tuple((part.number(f"{prefix}producer_id"), part.number(f"{prefix}producer_epoch")) for part in parts)


def _listed(topics: Iterable[ResponseFields], numbers: str = "partitions") -> tuple[str, ...]:
    return tuple(f"{_topic(topic)}-{index}" for topic in topics for index in topic.numbers(numbers))


def _topic(topic: ResponseFields) -> str:
    return topic.text("name") or topic.text("topic") or str(topic.uuid("topic_id") or "")
