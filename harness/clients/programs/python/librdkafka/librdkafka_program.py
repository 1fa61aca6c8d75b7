"""An adapter of librdkafka, through confluent-kafka."""

import time
from contextlib import suppress
from functools import partial
from typing import Any

from adapter_lines import Fields, error_fields, serve, unsupported
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka import libversion as library_version
from kafka_properties import read_security

COMMITTED_SECONDS = 0.3
"""Of one question for committed offsets; the library repeats it in that time while they are not stable."""


class Adapter:
    """One producer and one consumer at most, each opened when it is first needed."""

    def __init__(self) -> None:
        self.settings: Fields = {}
        self.arrived: list[Fields] = []
        self.opened: Producer | None = None
        self.consumer: Consumer | None = None
        self.waiting: list[TopicPartition] = []  # assigned, and their positions are still to be asked for

    def open(self, **settings: Any) -> Fields:
        self.settings = {**settings, "security": _security(settings.get("properties_file"))}
        return {"library": "librdkafka", "version": library_version()[0]}

    def init(self) -> None:
        self._producer().init_transactions(self._seconds())

    def begin(self) -> None:
        self._producer().begin_transaction()

    def produce(self, topic: str, partition: int, values: list[str], wait: bool) -> Fields | None:
        results: list[Fields] = []
        for value in values:
            report = partial(self._delivered, results)
            self._producer().produce(topic, value.encode(), partition=partition, on_delivery=report)
        self._producer().poll(0)
        while wait and len(results) < len(values):  # librdkafka ends each when its time is over
            self._producer().poll(0.1)
        failed = [each for each in results if wait and each["outcome"] != "done"]
        return {"outcome": failed[0]["outcome"], "error": failed[0]["error"]} if failed else None

    def flush(self) -> Fields | None:
        left = self._producer().flush(self._seconds())
        return {"outcome": "unsure", "error": error_fields("timeout", f"{left} records wait")} if left else None

    def send_offsets(self, offsets: list[Fields], **_group: str) -> Fields | None:
        if self.consumer is None:
            return unsupported("librdkafka takes the group's metadata from a consumer: subscribe comes first")
        places = [TopicPartition(each["topic"], each["partition"], each["offset"]) for each in offsets]
        metadata = self.consumer.consumer_group_metadata()
        self._producer().send_offsets_to_transaction(places, metadata, self._seconds())
        return None

    def commit(self) -> None:
        self._producer().commit_transaction(self._seconds())

    def abort(self) -> None:
        self._producer().abort_transaction(self._seconds())

    def subscribe(self, topics: list[str] | None = None, partitions: list[Fields] | None = None) -> None:
        self.consumer = Consumer(_consuming(self.settings))
        if topics and self.settings.get("looks_up_positions"):
            self.consumer.subscribe(topics, on_assign=self._assigned, on_revoke=self._revoked)
        elif topics:
            self.consumer.subscribe(topics)
        else:
            places = [TopicPartition(each["topic"], each["partition"], OFFSET_BEGINNING) for each in partitions or ()]
            self.consumer.assign(places)

    def poll(self, within_ms: int) -> Fields:
        if self.consumer is None:
            return unsupported("subscribe comes first")
        deadline = time.monotonic() + within_ms / 1000
        messages = self._consumed(self.consumer)
        while not messages and time.monotonic() < deadline:
            messages = self._consumed(self.consumer)
        errors = [message.error() for message in messages if message.error() is not None]
        records = [_record(message) for message in messages if message.error() is None]
        known = [each for each in self.consumer.position(self.consumer.assignment()) if each.offset >= 0]
        positions = [{"topic": each.topic, "partition": each.partition, "offset": each.offset} for each in known]
        return {"records": records, "positions": positions, **(_failed(errors[0]) if errors else {})}

    def close(self) -> None:
        if self.consumer is not None:
            self.consumer.close()
        if self.opened is not None:
            self.opened.purge()

    def deliveries(self) -> list[Fields]:
        if self.opened is not None:
            with suppress(KafkaException):  # a fatal error is raised before the records that it ended are reported
                self.opened.poll(0)
        arrived, self.arrived = self.arrived, []
        return arrived

    def _consumed(self, consumer: Consumer) -> list[Message]:
        if self.waiting and (found := _committed(consumer, self.waiting)):
            self.waiting = []
            consumer.assign(found)
        return consumer.consume(500, 0.05)

    def _assigned(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        self.waiting = places
        consumer.assign([])  # else the library would look up positions

    def _revoked(self, _consumer: Consumer, _places: list[TopicPartition]) -> None:
        self.waiting = []

    def _producer(self) -> Producer:
        if self.opened is None:
            self.opened = Producer(_producing(self.settings))
        return self.opened

    def _seconds(self) -> float:
        return float(self.settings["block_ms"]) / 1000

    def _delivered(self, results: list[Fields], error: KafkaError | None, message: Message) -> None:
        place = {"topic": message.topic(), "partition": message.partition(), "value": (message.value() or b"").decode()}
        offset = message.offset() if error is None else None
        results.append({**place, "offset": offset, **({"outcome": "done"} if error is None else _failed(error))})
        self.arrived.append(results[-1])


def _committed(consumer: Consumer, places: list[TopicPartition]) -> list[TopicPartition]:
    """The places where the group goes on; nothing while one of them is not stable or not told."""
    try:
        told = consumer.committed(places, timeout=COMMITTED_SECONDS)
    except KafkaException:
        return []
    if any(each.error is not None for each in told):
        return []
    offsets = (each.offset if each.offset >= 0 else OFFSET_BEGINNING for each in told)
    return [TopicPartition(each.topic, each.partition, offset) for each, offset in zip(told, offsets, strict=True)]


def _record(message: Message) -> Fields:
    value = (message.value() or b"").decode()
    return {"topic": message.topic(), "partition": message.partition(), "offset": message.offset(), "value": value}


def said(error: Exception) -> Fields:
    if isinstance(error, KafkaException):
        return _failed(error.args[0])
    return {"outcome": "refused", "error": error_fields(type(error).__name__, str(error))}


def _failed(error: KafkaError) -> Fields:
    """librdkafka's flags, in the order in which its documentation tells applications to look at them."""
    flags = {
        "fatal": error.fatal() or error.code() == KafkaError._FATAL,  # of calls that have no flags
        "abortable": error.txn_requires_abort(),
        "retriable": error.retriable(),
    }
    kind = next((name for name, flag in flags.items() if flag), None)
    code = error.code() if error.code() > 0 else None
    timed_out = error.code() in (KafkaError._TIMED_OUT, KafkaError._MSG_TIMED_OUT)
    return {
        "outcome": "unsure" if timed_out else "refused",
        "error": error_fields(error.name(), error.str(), code, kind),
    }


def _common(given: Fields) -> Fields:
    return {
        "bootstrap.servers": given["bootstrap"],
        "client.id": given["client_id"],
        "log_level": 3,
        "reconnect.backoff.ms": 50,  # brokers come back within seconds, and are not left alone for ten after that
        "reconnect.backoff.max.ms": 500,
        **given["security"],
    }


def _producing(given: Fields) -> Fields:
    transactional = {
        "transactional.id": given["transactional_id"],
        "transaction.timeout.ms": given["transaction_timeout_ms"],
    }
    return {
        **_common(given),
        **(transactional if given["transactional_id"] else {"enable.idempotence": given["idempotent"]}),
        "socket.timeout.ms": given["request_timeout_ms"],
        "request.timeout.ms": given["request_timeout_ms"],
        "message.timeout.ms": given["delivery_timeout_ms"],
        "linger.ms": given["linger_ms"],
        "batch.size": given["batch_bytes"],
        "max.in.flight": given["in_flight"],
        "compression.type": given["compression"],
    }


def _consuming(given: Fields) -> Fields:
    return {
        **_common(given),
        "group.id": given["group"] or "none",
        "isolation.level": given["isolation"],
        "session.timeout.ms": given["session_timeout_ms"],
        "max.partition.fetch.bytes": given["fetch_bytes"],
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }


def _security(file: str | None) -> Fields:
    """librdkafka's names of what a secured cluster needs."""
    security = read_security(file)
    names = {
        "security.protocol": security.protocol,
        "sasl.mechanism": security.mechanism,
        "sasl.username": security.username,
        "sasl.password": security.password,
        "ssl.ca.location": security.authorities,
        "ssl.endpoint.identification.algorithm": None if security.verify_host else "none",
    }
    return {name: value for name, value in names.items() if value is not None}


if __name__ == "__main__":
    adapter = Adapter()
    serve(adapter, said, adapter.deliveries)
