"""Key fields of a decoded request and of its answer, of any API and version, as plain values for the log of a client.

Names are those of Kafka's message schemas in snake case, with the unit where it is a time.
"""

from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from harness.base.json_value import Json
from harness.evidence.client_evidence import ProducedBatch
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.records.batch_rewrite import identities

COPIED: Mapping[str, str] = {
    "committed": "committed",
    "transaction_timeout": "transaction_timeout_ms",
    "producer_id": "producer_id",
    "producer_epoch": "producer_epoch",
    "group_id": "group_id",
    "generation_id": "generation_id",
    "generation_id_or_member_epoch": "generation_id",
    "member_id": "member_id",
    "group_instance_id": "group_instance_id",
    "key": "key",
    "key_type": "key_type",
    "coordinator_keys": "keys",
    "isolation_level": "isolation_level",
    "require_stable": "require_stable",
}
"""Fields of requests that are copied wherever a request has them, and their names in the log."""
WITH_PARTITIONS = ("AddPartitionsToTxn", "TxnOffsetCommit", "OffsetCommit", "OffsetFetch")


def request_fields(api: str, body: ResponseFields) -> dict[str, Json]:
    """What a request that is not Produce asks for."""
    found = {name: _json(getattr(body.entity, field)) for field, name in COPIED.items() if body.has(field)}
    if groups := body.parts("groups"):  # OffsetFetch from v8 on
        found["group_ids"] = [group.text("group_id") for group in groups]
    if api in WITH_PARTITIONS:
        offsets = dict(_partitions(body))
        found["partitions"] = list(offsets)
        if api.endswith("OffsetCommit"):
            found["offsets"] = {**offsets}
    return found


def produced(body: ResponseFields, topic_names: Mapping[UUID, str]) -> tuple[ProducedBatch, ...]:
    """The batches of a Produce request; a topic whose id has no known name goes by the id (v13, KIP-516)."""
    return tuple(
        ProducedBatch(
            topic=topic_name(topic, topic_names),
            partition=part.number("index"),
            producer_id=batch.producer_id,
            epoch=batch.epoch,
            base_sequence=batch.sequence,
            count=batch.count,
            transactional=batch.transactional,
        )
        for topic in body.parts("topic_data")
        for part in topic.parts("partition_data")
        for batch in identities(part.octets("records"))
    )


def topic_name(topic: ResponseFields, topic_names: Mapping[UUID, str] | None = None) -> str:
    """The topic's name, or its id as text."""
    topic_id = topic.uuid("topic_id")
    known = topic_names.get(topic_id) if topic_names and topic_id else None
    return topic.text("name") or known or str(topic_id or "")


def answer_fields(api: str, body: ResponseFields) -> dict[str, Json]:
    """What an answer hands out; of an API that is not named here nothing but its errors counts."""
    return ANSWERS[api](body) if api in ANSWERS else {}


def _copied(*names: str) -> Callable[[ResponseFields], dict[str, Json]]:
    return lambda body: {name: _json(getattr(body.entity, name)) for name in names if body.has(name)}


def _features(body: ResponseFields) -> dict[str, Json]:
    """ApiVersions from v3 on (KIP-584): the levels that the cluster has settled on."""
    if not body.has("finalized_features"):
        return {}
    levels: Json = {one.text("name"): one.number("max_version_level") for one in body.parts("finalized_features")}
    return {"finalized_features": levels, "finalized_features_epoch": body.number("finalized_features_epoch")}


ANSWERS: Mapping[str, Callable[[ResponseFields], dict[str, Json]]] = {
    "InitProducerId": _copied("producer_id", "producer_epoch"),
    "EndTxn": _copied("producer_id", "producer_epoch"),
    "JoinGroup": _copied("generation_id", "member_id"),
    "ApiVersions": _features,
}


def _partitions(body: ResponseFields) -> Iterable[tuple[str, int]]:
    """``topic-0`` and the offset that is committed for it, -1 where the request has none."""
    for owner in (body, *body.parts("transactions"), *body.parts("groups")):
        for topic in (*owner.parts("topics"), *owner.parts("v3_and_below_topics")):
            name = topic_name(topic)
            for index in topic.numbers("partition_indexes"):
                yield f"{name}-{index}", -1
            yield from (_partition(name, part) for part in topic.parts("partitions"))


def _partition(topic: str, part: ResponseFields) -> tuple[str, int]:
    """A partition is a number in AddPartitionsToTxn, and an entity elsewhere."""
    if isinstance(part.entity, int):
        return f"{topic}-{part.entity}", -1
    return f"{topic}-{part.number('partition_index')}", part.number("committed_offset")


def _json(value: object) -> Json:
    match value:
        case tuple():
            return [_json(item) for item in value]
        case None | bool() | str():
            return value
        case int():
            return int(value)
    return str(value)
