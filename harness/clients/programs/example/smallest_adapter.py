#!/usr/bin/env python3
"""The smallest adapter: 60 lines that let a producer be judged. PROTOCOL.md beside the harness says what lines mean."""

import json
import sys
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer, libversion

Fields = dict[str, Any]
NAMES = {"bootstrap.servers": "bootstrap", "client.id": "client_id", "transactional.id": "transactional_id"}
NAMES |= {"message.timeout.ms": "delivery_timeout_ms", "transaction.timeout.ms": "transaction_timeout_ms"}
WITHIN = {"init": "init_transactions", "commit": "commit_transaction", "abort": "abort_transaction"}
AT_ONCE = {"begin": "begin_transaction", "close": "purge"}
deliveries, opened = list[Fields](), Fields()


def said(error: KafkaError) -> Fields:
    flags = {"fatal": error.fatal(), "abortable": error.txn_requires_abort(), "retriable": error.retriable()}
    told = {"type": error.name(), "message": error.str(), "class": next((each for each in flags if flags[each]), None)}
    outcome = "unsure" if error.code() in (KafkaError._TIMED_OUT, KafkaError._MSG_TIMED_OUT) else "refused"
    return {"outcome": outcome, "error": told | {"code": max(error.code(), 0) or None}}


def produce(producer: Producer, call: Fields) -> Fields:
    def delivered(error: KafkaError | None, message: Message) -> None:
        place = {"topic": call["topic"], "partition": call["partition"], "value": message.value().decode()}
        deliveries.append(place | (said(error) if error else {"outcome": "done", "offset": message.offset()}))

    before = len(deliveries)
    for value in call["values"]:
        producer.produce(call["topic"], value, partition=call["partition"], on_delivery=delivered)
    while call["wait"] and len(deliveries) - before < len(call["values"]):  # each ends by the delivery timeout
        producer.poll(0.1)
    failed = [each for each in deliveries[before:] if call["wait"] and each["outcome"] != "done"]
    return {name: failed[0][name] for name in ("outcome", "error")} if failed else {}


def answer(call: Fields, name: str) -> Fields:
    if name == "open":
        given = {name: call[field] for name, field in NAMES.items() if call[field] is not None}
        opened.update(producer=Producer(given), seconds=call["block_ms"] / 1000)
        return {"library": "librdkafka", "version": libversion()[0]}
    if name in WITHIN or name in AT_ONCE:
        getattr(opened["producer"], WITHIN.get(name) or AT_ONCE[name])(*[opened["seconds"]] * (name in WITHIN))
        return {}
    unknown = {"outcome": "refused", "error": {"type": "unsupported", "message": "this example has no consumer"}}
    return produce(opened["producer"], call) if name == "produce" else unknown


for call in map(json.loads, sys.stdin):
    try:
        told = answer(call, call["call"])
    except KafkaException as error:
        told = said(error.args[0])
    sys.stdout.write(json.dumps({"id": call["id"], "outcome": "done", **told, "deliveries": deliveries}) + "\n")
    sys.stdout.flush()
    deliveries.clear()
    if call["call"] == "close":
        break
