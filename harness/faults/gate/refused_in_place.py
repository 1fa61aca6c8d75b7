"""The lie that answers in the broker's place with an error; the request is never forwarded.

Shapes are those of Kafka's ``AbstractRequest.getErrorResponse`` of each API. Only AddPartitionsToTxn from v4 on, where
that gives one top-level error and no transaction, is answered for each partition, as its coordinator refuses it
(``AddPartitionsToTxnRequest.errorResponseForTopics``). A Produce with acks=0 has no answer, and is forwarded.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from harness.faults.gate.lie import LiedRequest, LiedResponse
from harness.faults.gate.watch.request_fields import request_fields, topic_name
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import make_response

Fields: TypeAlias = dict[str, object]
NULL_PROTOCOL_NAME = 7
"""The first version of JoinGroup in which a refusal names no protocol (``JoinGroupRequest.getErrorResponse``)."""
TOP_LEVEL_ERROR = 2
"""The first version of OffsetFetch whose answer has an error beside those of its partitions."""


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A request's body, the error that it gets, and its version."""

    body: ResponseFields
    error: int
    version: int
    log_start: int = -1


@dataclass(frozen=True, slots=True)
class RefusedInPlace:
    """Fills :class:`harness.faults.gate.lie.Lie`.

    :param only: Partitions (``topic-0``), groups or coordinator keys; a request that names none of them is forwarded.
        None to refuse every request.
    :param log_start: Of Produce: where the log begins, as the answer has it; -1: it is not known.
    """

    error: int
    only: tuple[str, ...] | None = None
    log_start: int = -1

    def request(self, asked: LiedRequest) -> object | LiedResponse:
        """The refusal; the request itself where it is to be forwarded."""
        header, body = asked.info.header, ResponseFields(asked.body)
        if not self._takes(header.api, body):
            return asked.body
        refused = RefusedRequest(body, self.error, header.version, self.log_start)
        return LiedResponse(make_response(header, **refusal(header.api, refused)))

    def response(self, _asked: LiedRequest, body: object) -> object:
        """As it is: it belongs to a request that was forwarded."""
        return body

    def _takes(self, api: str, body: ResponseFields) -> bool:
        if api == "Produce" and body.number("acks") == 0:
            return False
        return self.only is None or not set(self.only).isdisjoint(_named(api, body))


def refused_in_place(error: int, only: list[str] | None = None, log_start: int = -1) -> RefusedInPlace:
    """From plain values; :raises TypeError: when ``error`` is no number."""
    if not isinstance(error, int):
        raise TypeError(f"{error!r} is no error code")
    return RefusedInPlace(error, None if only is None else tuple(only), log_start)


def refusal(api: str, refused: RefusedRequest) -> Fields:
    """The answer's fields of all versions; :raises LookupError: for an API that is not known here."""
    if api not in REFUSALS:
        raise LookupError(f"{api} cannot be refused in the broker's place")
    return {"error_code": refused.error, **REFUSALS[api](refused)}


def _named(api: str, body: ResponseFields) -> tuple[str, ...]:
    """Partitions, groups and keys that a request names."""
    if api == "Produce":
        return tuple(
            f"{topic_name(topic)}-{part.number('index')}"
            for topic in body.parts("topic_data")
            for part in topic.parts("partition_data")
        )
    asked = request_fields(api, body)
    several = [asked.get(name) for name in ("partitions", "group_ids", "keys")]
    single = [asked[name] for name in ("group_id", "key") if name in asked]
    return tuple(str(name) for found in (*several, single) if isinstance(found, list) for name in found)


def _produce(refused: RefusedRequest) -> Fields:
    nothing: Fields = {
        "error_code": refused.error,
        "base_offset": -1,
        "log_append_time": -1,
        "log_start_offset": refused.log_start,
    }
    return {
        "responses": tuple(
            {
                **_topic(topic),
                "partition_responses": tuple(
                    {**nothing, "index": part.number("index")} for part in topic.parts("partition_data")
                ),
            }
            for topic in refused.body.parts("topic_data")
        )
    }


def _added_partitions(refused: RefusedRequest) -> Fields:
    transactions = tuple(
        {
            "transactional_id": one.text("transactional_id"),
            "topic_results": _added_topics(one.parts("topics"), refused.error),
        }
        for one in refused.body.parts("transactions")
    )
    topics = _added_topics(refused.body.parts("v3_and_below_topics"), refused.error)
    return {"error_code": 0, "results_by_topic_v3_and_below": topics, "results_by_transaction": transactions}


def _added_topics(topics: Iterable[ResponseFields], error: int) -> tuple[Fields, ...]:
    return tuple(
        {
            "name": topic.text("name"),
            "results_by_partition": tuple(
                {"partition_index": index, "partition_error_code": error} for index in topic.numbers("partitions")
            ),
        }
        for topic in topics
    )


def _committed_offsets(refused: RefusedRequest) -> Fields:
    return {
        "topics": tuple(
            {
                "name": topic.text("name"),
                "partitions": tuple(
                    {"partition_index": part.number("partition_index"), "error_code": refused.error}
                    for part in topic.parts("partitions")
                ),
            }
            for topic in refused.body.parts("topics")
        )
    }


def _identity(_refused: RefusedRequest) -> Fields:
    return {"producer_id": -1, "producer_epoch": -1}


def _coordinator(refused: RefusedRequest) -> Fields:
    """One, or from v4 on one for each key (KIP-699)."""
    nobody: Fields = {"error_code": refused.error, "node_id": -1, "host": "", "port": -1, "error_message": None}
    return {**nobody, "coordinators": tuple({**nobody, "key": key} for key in refused.body.texts("coordinator_keys"))}


def _joined(refused: RefusedRequest) -> Fields:
    name = None if refused.version >= NULL_PROTOCOL_NAME else ""
    return {"generation_id": -1, "protocol_name": name, "leader": "", "member_id": ""}


def _synced(_refused: RefusedRequest) -> Fields:
    return {"assignment": b""}


def _fetched_offsets(refused: RefusedRequest) -> Fields:
    """For each partition in v1, once for all in v2 to v7, and then for each group."""
    unknown: Fields = {"error_code": refused.error, "committed_offset": -1, "metadata": ""}
    topics = tuple(
        {
            "name": topic.text("name"),
            "partitions": tuple({**unknown, "partition_index": index} for index in topic.numbers("partition_indexes")),
        }
        for topic in refused.body.parts("topics")
    )
    groups = refused.body.parts("groups")
    return {
        "topics": topics if refused.version < TOP_LEVEL_ERROR else (),
        "groups": tuple({"group_id": one.text("group_id"), "error_code": refused.error} for one in groups),
    }


def _metadata(refused: RefusedRequest) -> Fields:
    """For the topics that the request names; there are none where it asks for all."""
    topics = tuple({**_topic(topic), "error_code": refused.error} for topic in refused.body.parts("topics"))
    return {"error_code": 0, "topics": topics, "controller_id": -1}


def _one_error(_refused: RefusedRequest) -> Fields:
    return {}


def _topic(topic: ResponseFields) -> Fields:
    return {"name": topic.text("name"), "topic_id": topic.uuid("topic_id")}


REFUSALS: Mapping[str, Callable[[RefusedRequest], Fields]] = {
    "Produce": _produce,
    "AddPartitionsToTxn": _added_partitions,
    "AddOffsetsToTxn": _one_error,
    "TxnOffsetCommit": _committed_offsets,
    "EndTxn": _identity,
    "InitProducerId": _identity,
    "FindCoordinator": _coordinator,
    "JoinGroup": _joined,
    "SyncGroup": _synced,
    "Heartbeat": _one_error,
    "OffsetFetch": _fetched_offsets,
    "Metadata": _metadata,
}
