"""An adapter of kafka-python.

Its ``commit_transaction``, ``abort_transaction`` and ``send_offsets_to_transaction`` wait for ever
(``TransactionalRequestResult.wait`` without a timeout), so they run in threads that this adapter waits for.
"""

import logging
import queue
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from adapter_lines import Fields, error_fields, serve, unsupported
from kafka import KafkaConsumer, KafkaProducer, TopicPartition, __version__
from kafka.errors import BrokerResponseError, KafkaError, KafkaTimeoutError, ProducerFencedError, RequestTimedOutError
from kafka.structs import OffsetAndMetadata
from python_clients import connection_settings, consumer_settings, known_offset, producer_settings, record_fields

OLD = int(__version__.partition(".")[0]) < 3
"""Until 3.0 an idempotent producer has one request in flight at most, and a consumer's requests outlast its session."""
CLOSE_MS = 3_000
"""For leaving the group."""


class Adapter:
    """One producer and one consumer at most, each opened when it is first needed."""

    def __init__(self) -> None:
        self.settings: Fields = {}
        self.arrived: queue.SimpleQueue[Fields] = queue.SimpleQueue()
        self.opened: KafkaProducer | None = None
        self.consumer: KafkaConsumer | None = None

    def open(self, **settings: Any) -> Fields:
        self.settings = {**settings, **_connecting(settings)}
        return {"library": "kafka-python", "version": __version__}

    def init(self) -> None:
        self._producer().init_transactions()

    def begin(self) -> None:
        self._producer().begin_transaction()

    def produce(self, topic: str, partition: int, values: list[str], wait: bool) -> Fields | None:
        results = [self._send(topic, partition, value) for value in values]
        if not wait:
            return None
        deadline = time.monotonic() + self._slack_seconds()
        came = [result.get(timeout=max(0.0, deadline - time.monotonic())) for result in results]
        failed = [each for each in came if each["outcome"] != "done"]
        return {"outcome": failed[0]["outcome"], "error": failed[0]["error"]} if failed else None

    def flush(self) -> None:
        self._producer().flush(timeout=self._seconds())

    def send_offsets(self, group: str, offsets: list[Fields]) -> None:
        places = {TopicPartition(each["topic"], each["partition"]): _offset(each["offset"]) for each in offsets}
        # Consumers have group_metadata since 3.0; before, there is the group's name alone.
        joined = self.consumer is not None and hasattr(self.consumer, "group_metadata")
        metadata = self.consumer.group_metadata() if joined else group
        self._within_block(partial(self._producer().send_offsets_to_transaction, places, metadata))

    def commit(self) -> None:
        self._within_block(self._producer().commit_transaction)

    def abort(self) -> None:
        self._within_block(self._producer().abort_transaction)

    def subscribe(self, topics: list[str] | None = None, partitions: list[Fields] | None = None) -> None:
        self.consumer = KafkaConsumer(**_known(KafkaConsumer, _consuming(self.settings)))
        if topics:
            self.consumer.subscribe(topics)
        else:
            places = [TopicPartition(each["topic"], each["partition"]) for each in partitions or ()]
            self.consumer.assign(places)
            self.consumer.seek_to_beginning(*places)

    def poll(self, within_ms: int) -> Fields:
        if self.consumer is None:
            return unsupported("subscribe comes first")
        deadline = time.monotonic() + within_ms / 1000
        found: dict[TopicPartition, list[Any]] = {}
        while not found and (left := deadline - time.monotonic()) > 0:
            found = self.consumer.poll(timeout_ms=max(1, int(left * 1000)))
        records = [record_fields(record) for batch in found.values() for record in batch]
        return {"records": records, "positions": _positions(self.consumer)}

    def close(self) -> None:
        if self.consumer is not None:
            with suppress(TypeError):  # its timeout has this name since 2.1
                self.consumer.close(autocommit=False, timeout_ms=CLOSE_MS)
        if self.opened is not None:
            with suppress(KafkaTimeoutError):  # of the flush in it: there are records that were not sent
                self.opened.close(timeout=0)

    def deliveries(self) -> list[Fields]:
        return [self.arrived.get() for _ in range(self.arrived.qsize())]

    def said(self, error: Exception) -> Fields:
        unsure = isinstance(error, KafkaTimeoutError | RequestTimedOutError | TimeoutError | queue.Empty)
        return {"outcome": "unsure" if unsure else "refused", "error": self._explained(error)}

    def _send(self, topic: str, partition: int, value: str) -> "queue.SimpleQueue[Fields]":
        result: queue.SimpleQueue[Fields] = queue.SimpleQueue()
        place = {"topic": topic, "partition": partition, "value": value}

        def arrived(delivery: Fields) -> None:
            self.arrived.put({**place, **delivery})
            result.put(delivery)

        sent = self._producer().send(topic, value.encode(), partition=partition)
        sent.add_callback(lambda stored: arrived({"outcome": "done", "offset": known_offset(stored.offset)}))
        sent.add_errback(lambda error: arrived({**self.said(error), "offset": None}))
        return result

    def _producer(self) -> KafkaProducer:
        if self.opened is None:
            self.opened = KafkaProducer(**_known(KafkaProducer, _producing(self.settings)))
        return self.opened

    def _within_block(self, call: Callable[[], None]) -> None:
        """:raises TimeoutError: when the call goes on after ``block_ms``; it is not ended by that."""
        failed: list[Exception] = []

        def run() -> None:
            try:
                call()
            except Exception as error:  # noqa: BLE001  it is raised below, by who waits
                failed.append(error)

        running = threading.Thread(target=run, daemon=True)
        running.start()
        running.join(self._seconds())
        if failed:
            raise failed[0]
        if running.is_alive():
            raise TimeoutError(f"the call goes on after {self._seconds():g} s")

    def _seconds(self) -> float:
        return float(self.settings["block_ms"]) / 1000

    def _slack_seconds(self) -> float:
        """More than the library takes for a record, whose time is over after ``delivery_timeout_ms``."""
        return float(self.settings["delivery_timeout_ms"] + self.settings["request_timeout_ms"]) / 1000 + 5.0

    def _explained(self, error: BaseException) -> Fields:
        """The error, its class, and what it wraps; the state of the transactions is as the library keeps it."""
        state = getattr(self.opened, "_transaction_manager", None)
        kinds = {
            "fenced": isinstance(error, ProducerFencedError),
            "fatal": state is not None and state.has_fatal_error(),
            "abortable": state is not None and state.has_abortable_error(),
            "retriable": getattr(error, "retriable", False),
        }
        kind = next((name for name, is_so in kinds.items() if is_so), None)
        wrapped = [each for each in getattr(error, "args", ()) if isinstance(each, KafkaError)]
        last = getattr(state, "last_error", None)
        wrapped += [last] if last is not None and last is not error and last not in wrapped else []
        causes = [error_fields(type(each).__name__, str(each), _code(each)) for each in wrapped]
        return error_fields(type(error).__name__, str(error), _code(error), kind, causes)


def _code(error: BaseException) -> int | None:
    return error.errno if isinstance(error, BrokerResponseError) else None


def _offset(offset: int) -> OffsetAndMetadata:
    """Has the leader's epoch as its third field since 2.1."""
    return OffsetAndMetadata(*(offset, "", -1)[: len(OffsetAndMetadata._fields)])


def _positions(consumer: KafkaConsumer) -> list[Fields]:
    """Of partitions whose position is known; the library is not asked to find others."""
    positions = []
    for place in consumer.assignment():
        with suppress(KafkaTimeoutError):
            if (offset := consumer.position(place, timeout_ms=0)) is not None:
                positions.append({"topic": place.topic, "partition": place.partition, "offset": offset})
    return positions


def _known(client: type, settings: Fields) -> Fields:
    """The settings that this version of the library has."""
    return {name: value for name, value in settings.items() if name in client.DEFAULT_CONFIG}


def _connecting(given: Fields) -> Fields:
    return {
        **connection_settings(given),
        "bootstrap_timeout_ms": given["block_ms"],
        "api_version_auto_timeout_ms": given["block_ms"],  # its name until 2.3
    }


def _producing(given: Fields) -> Fields:
    return {
        **producer_settings(given),
        "max_block_ms": given["block_ms"],
        "batch_size": given["batch_bytes"],
        "max_in_flight_requests_per_connection": 1 if OLD and given["idempotent"] else given["in_flight"],
    }


def _consuming(given: Fields) -> Fields:
    least = given["session_timeout_ms"] + 1 if OLD else 0
    return {**consumer_settings(given), "request_timeout_ms": max(given["request_timeout_ms"], least)}


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)
    adapter = Adapter()
    serve(adapter, adapter.said, adapter.deliveries)
