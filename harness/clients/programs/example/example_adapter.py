#!/usr/bin/env python3
"""An adapter on one page, to begin your own from; harness/clients/stdio/PROTOCOL.md says what the lines mean.

It needs a python3 on the PATH that has confluent-kafka, as Fencepost's own:
PATH=$PWD/.venv/bin:$PATH fencepost client ./harness/clients/programs/example/example_adapter.py --check
"""

import json
import sys
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka import libversion as library_version

Fields = dict[str, Any]
CLIENT = {"bootstrap.servers": "bootstrap", "client.id": "client_id"}  # librdkafka's names, and the protocol's
PRODUCER = CLIENT | {"transactional.id": "transactional_id", "transaction.timeout.ms": "transaction_timeout_ms"}
PRODUCER |= {"enable.idempotence": "idempotent", "linger.ms": "linger_ms", "batch.size": "batch_bytes"}
PRODUCER |= {"socket.timeout.ms": "request_timeout_ms", "message.timeout.ms": "delivery_timeout_ms"}
PRODUCER |= {"max.in.flight": "in_flight", "compression.type": "compression"}
CONSUMER = CLIENT | {"group.id": "group", "isolation.level": "isolation", "session.timeout.ms": "session_timeout_ms"}
CONSUMER |= {"max.partition.fetch.bytes": "fetch_bytes"}
READING = {"group.id": "none", "auto.offset.reset": "earliest", "enable.auto.commit": False}


class ExampleAdapter:
    """A method is a call: it returns what the answer says beside ``done``, or raises what the library raises."""

    def open(self, call: Fields) -> Fields | None:
        if call["properties_file"] is not None:
            return refused("unsupported", "this example knows no security settings")
        self._given, self._seconds = call, call["block_ms"] / 1000
        self._producer, self._consumer = Producer(settings(call, PRODUCER)), None
        return {"library": "librdkafka", "version": library_version()[0]}

    def init(self, _call: Fields) -> None:
        self._producer.init_transactions(self._seconds)

    def begin(self, _call: Fields) -> None:
        self._producer.begin_transaction()

    def produce(self, call: Fields) -> Fields | None:
        results: list[Fields] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            result = said(error) if error else {"outcome": "done", "offset": message.offset()}
            results.append(result | {"topic": call["topic"], "partition": call["partition"], "value": text_of(message)})
            deliveries.append(results[-1])

        for value in call["values"]:
            self._producer.produce(call["topic"], value, partition=call["partition"], on_delivery=delivered)
        while call["wait"] and len(results) < len(call["values"]):  # each ends by the delivery timeout
            self._producer.poll(0.1)
        failed = [each for each in results if call["wait"] and each["outcome"] != "done"]
        return {name: failed[0][name] for name in ("outcome", "error")} if failed else None

    def flush(self, _call: Fields) -> Fields | None:
        left = self._producer.flush(self._seconds)
        return refused("timeout", f"{left} records wait", outcome="unsure") if left else None

    def send_offsets(self, call: Fields) -> Fields | None:
        if self._consumer is None:
            return refused("unsupported", "librdkafka takes the group's metadata from a consumer: subscribe first")
        places = [TopicPartition(**each) for each in call["offsets"]]
        self._producer.send_offsets_to_transaction(places, self._consumer.consumer_group_metadata(), self._seconds)
        return None

    def commit(self, _call: Fields) -> None:
        self._producer.commit_transaction(self._seconds)

    def abort(self, _call: Fields) -> None:
        self._producer.abort_transaction(self._seconds)

    def subscribe(self, call: Fields) -> None:
        self._consumer = Consumer(READING | settings(self._given, CONSUMER))
        if call.get("topics"):
            self._consumer.subscribe(call["topics"])
        else:
            self._consumer.assign([TopicPartition(**each, offset=OFFSET_BEGINNING) for each in call["partitions"]])

    def poll(self, call: Fields) -> Fields:
        first = self._consumer.poll(call["within_ms"] / 1000)
        messages = [first, *self._consumer.consume(499, 0)] if first is not None else []
        records = [
            {"topic": each.topic(), "partition": each.partition(), "offset": each.offset(), "value": text_of(each)}
            for each in messages
            if not each.error()
        ]
        reached = [each for each in self._consumer.position(self._consumer.assignment()) if each.offset >= 0]
        positions = [{"topic": each.topic, "partition": each.partition, "offset": each.offset} for each in reached]
        failed = [said(each.error()) for each in messages if each.error()]
        return {"records": records, "positions": positions, **(failed[0] if failed else {})}

    def close(self, _call: Fields) -> None:
        self._producer.purge()
        if self._consumer is not None:
            self._consumer.close()


def settings(given: Fields, names: dict[str, str]) -> Fields:
    return {name: given[field] for name, field in names.items() if given[field] is not None}


def text_of(message: Message) -> str:
    return message.value().decode()


def refused(type_: str, message: str, outcome: str = "refused") -> Fields:
    return {"outcome": outcome, "error": {"type": type_, "message": message}}


def said(error: KafkaError) -> Fields:
    """An error in librdkafka's words; what class it has, librdkafka's own flags say."""
    fatal = error.fatal() or error.code() == KafkaError._FATAL  # which has no flags
    flags = {"fatal": fatal, "abortable": error.txn_requires_abort(), "retriable": error.retriable()}
    kind = next((name for name, flag in flags.items() if flag), None)
    code = error.code() if error.code() > 0 else None  # those below 0 are librdkafka's own
    unsure = error.code() in (KafkaError._TIMED_OUT, KafkaError._MSG_TIMED_OUT)
    told = {"type": error.name(), "message": error.str(), "code": code, "class": kind}
    return {"outcome": "unsure" if unsure else "refused", "error": told}


def answer(call: Fields) -> Fields:
    method = getattr(adapter, call["call"], None)
    if method is None:
        return refused("unsupported", "this example does not know the call")
    try:
        return method(call) or {}
    except KafkaException as error:
        return said(error.args[0])
    except Exception as error:  # noqa: BLE001  whatever else it raises, for the caller it is the library's error
        return refused(type(error).__name__, str(error))


adapter, deliveries = ExampleAdapter(), []
for line in sys.stdin:
    call = json.loads(line)
    fields = {"id": call["id"], "outcome": "done", **answer(call)}
    sys.stdout.write(json.dumps({**fields, "deliveries": deliveries}) + "\n")
    sys.stdout.flush()
    deliveries.clear()
    if call["call"] == "close":
        break
