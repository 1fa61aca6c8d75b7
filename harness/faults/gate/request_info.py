"""What rules need of a decoded request of any API and version: transactional ids and producer identities.

The shapes follow Kafka's message schemas (``ProduceRequest.json`` and its like). A producer's identity stands in the
record batches of Produce, and in the body of everything else.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import RequestHeader
from harness.wire.records.batch_rewrite import identities


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestInfo:
    """A request as rules see it; ``identities`` are pairs of producer id and epoch.

    :param adds: Of AddPartitionsToTxn, whether its first transaction's partitions are added, and not only asked about.
    :param commits: Of EndTxn and WriteTxnMarkers, whether the first transaction is committed.
    :param partitions: Of Produce that names topics (up to v12), those that it writes to.
    """

    header: RequestHeader
    transactional_ids: tuple[str, ...] = ()
    identities: tuple[tuple[int, int], ...] = ()
    readable: bool = True
    adds: bool | None = None
    commits: bool | None = None
    partitions: tuple[str, ...] = ()


@dataclass(slots=True)
class LatestEpochs:
    """The latest identity that a coordinator handed out for each transactional id, as far as responses were seen."""

    by_id: dict[str, tuple[int, int]] = field(default_factory=dict)

    def update(self, info: RequestInfo, body: object) -> None:
        """Take what a response to InitProducerId or EndTxn (v5+) hands out; an error hands out nothing."""
        response = ResponseFields(body)
        identity = response.number("producer_id"), response.number("producer_epoch")
        if response.error() == 0 and min(identity) >= 0:
            self.by_id.update(dict.fromkeys(info.transactional_ids, identity))

    def compare(self, info: RequestInfo) -> str:
        """``newest``, ``older``, or ``unknown`` where nothing is known to compare with."""
        latest = [self.by_id[one] for one in info.transactional_ids if one in self.by_id]
        if not latest or not info.identities:
            return "unknown"
        return "newest" if all(identity in latest for identity in info.identities) else "older"


IDENTITY_APIS = ("InitProducerId", "EndTxn")
"""APIs whose responses hand out identities."""


def request_info(header: RequestHeader, body: object) -> RequestInfo:
    """The identities in a request; of an API that has no producer, the header alone."""
    return PARSERS.get(header.api, _one_producer)(header, ResponseFields(body))


def _one_producer(header: RequestHeader, body: ResponseFields) -> RequestInfo:
    """InitProducerId, AddOffsetsToTxn, TxnOffsetCommit, EndTxn: one producer's own fields, where there are any."""
    return RequestInfo(header=header, transactional_ids=_ids([body]), identities=_identities([body]))


def _produce(header: RequestHeader, body: ResponseFields) -> RequestInfo:
    parts = [(topic.text("name"), part) for topic in body.parts("topic_data") for part in topic.parts("partition_data")]
    batches = [batch for _, part in parts for batch in identities(part.octets("records"))]
    found = tuple({(batch.producer_id, batch.epoch): None for batch in batches})
    names = tuple(f"{topic}-{part.number('index')}" for topic, part in parts if topic)
    return RequestInfo(header=header, transactional_ids=_ids([body]), identities=found, partitions=names)


def _add_partitions(header: RequestHeader, body: ResponseFields) -> RequestInfo:
    """From v4 on a list of transactions, below that one with fields that have a prefix."""
    if body.has("transactions"):
        each, prefix = body.parts("transactions"), ""
    else:
        each, prefix = (body,), "v3_and_below_"
    adds = not any(part.number("verify_only", 0) for part in each[:1])
    return RequestInfo(
        header=header, transactional_ids=_ids(each, prefix), identities=_identities(each, prefix), adds=adds
    )


def _markers(header: RequestHeader, body: ResponseFields) -> RequestInfo:
    markers = body.parts("markers")
    commits = next((bool(marker.number("transaction_result")) for marker in markers), None)
    return RequestInfo(header=header, identities=_identities(markers), commits=commits)


def _end(header: RequestHeader, body: ResponseFields) -> RequestInfo:
    return replace(_one_producer(header, body), commits=bool(body.number("committed")))


PARSERS: Mapping[str, Callable[[RequestHeader, ResponseFields], RequestInfo]] = {
    "Produce": _produce,
    "AddPartitionsToTxn": _add_partitions,
    "WriteTxnMarkers": _markers,
    "EndTxn": _end,
}


def _ids(parts: Iterable[ResponseFields], prefix: str = "") -> tuple[str, ...]:
    return tuple(found for part in parts if (found := part.text(f"{prefix}transactional_id")))


def _identities(parts: Iterable[ResponseFields], prefix: str = "") -> tuple[tuple[int, int], ...]:
    return tuple(
        (part.number(f"{prefix}producer_id"), part.number(f"{prefix}producer_epoch"))
        for part in parts
        if part.has(f"{prefix}producer_id")
    )
