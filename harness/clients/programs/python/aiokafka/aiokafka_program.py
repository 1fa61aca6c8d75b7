"""An adapter of aiokafka.

``AIOKafkaProducer.start`` gets the producer id, so it is what ``init`` does; another call that comes first does it too.
The library puts the name of a group into a transaction and has no way to give the group's metadata. A record's time is
``request_timeout_ms`` (``MessageBatch``'s ttl): the library has no other setting for it.
"""

import asyncio
import inspect
import logging
import sys
import time
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from typing import Any

from adapter_lines import Fields, error_fields, serve_async, unsupported
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition, __version__
from aiokafka.errors import BrokerResponseError, KafkaTimeoutError, ProducerFenced, RequestTimedOutError
from python_clients import connection_settings, consumer_settings, known_offset, producer_settings, record_fields

CLOSE_SECONDS = 3.0
"""For leaving the group."""
POSITION_SECONDS = 0.05


class Adapter:
    """One producer and one consumer at most, each opened when it is first needed."""

    def __init__(self) -> None:
        self.settings: Fields = {}
        self.arrived: list[Fields] = []
        self.opened: AIOKafkaProducer | None = None
        self.starting: asyncio.Task[None] | None = None
        self.consumer: AIOKafkaConsumer | None = None
        self.running: set[asyncio.Future[Any]] = set()

    async def open(self, **settings: Any) -> Fields:
        connection = connection_settings(settings)
        mechanism = connection["sasl_mechanism"] or "PLAIN"  # the library takes no None
        self.settings = {**settings, **connection, "sasl_mechanism": mechanism}
        lacks = ["giving-up"]  # SendProduceReqHandler._can_retry: an idempotent batch never expires
        return {"library": "aiokafka", "version": __version__, "lacks": lacks}

    async def init(self) -> Fields | None:
        if self.starting is not None and self.starting.done() and not _failed(self.starting):
            return unsupported("a producer is started once: aiokafka has no initTransactions beside it")
        await self._producer()
        return None

    async def begin(self) -> None:
        await self._within_block((await self._producer()).begin_transaction())

    async def produce(self, topic: str, partition: int, values: list[str], wait: bool) -> Fields | None:
        producer = await self._producer()
        sent = []
        for value in values:
            result = await self._within_block(producer.send(topic, value.encode(), partition=partition))
            result.add_done_callback(partial(self._delivered, topic, partition, value))
            sent.append(result)
        if not wait or not sent:
            return None
        _, unknown = await asyncio.wait(sent, timeout=self._slack_seconds())
        if unknown:
            raise TimeoutError(f"{len(unknown)} of {len(sent)} records have no result")
        failed = [result.exception() for result in sent if result.exception() is not None]
        return self.said(failed[0]) if failed else None

    async def flush(self) -> None:
        await self._within_block((await self._producer()).flush())

    async def send_offsets(self, group: str, offsets: list[Fields]) -> None:
        places = {TopicPartition(each["topic"], each["partition"]): each["offset"] for each in offsets}
        await self._within_block((await self._producer()).send_offsets_to_transaction(places, group))

    async def commit(self) -> None:
        await self._within_block((await self._producer()).commit_transaction())

    async def abort(self) -> None:
        await self._within_block((await self._producer()).abort_transaction())

    async def subscribe(self, topics: list[str] | None = None, partitions: list[Fields] | None = None) -> None:
        consumer = AIOKafkaConsumer(**_known(AIOKafkaConsumer, consumer_settings(self.settings)))
        await self._within_block(consumer.start())
        self.consumer = consumer
        if topics:
            consumer.subscribe(topics)
        else:
            consumer.assign([TopicPartition(each["topic"], each["partition"]) for each in partitions or ()])

    async def poll(self, within_ms: int) -> Fields:
        if self.consumer is None:
            return unsupported("subscribe comes first")
        deadline = time.monotonic() + within_ms / 1000
        found: dict[TopicPartition, list[Any]] = {}
        while not found and (left := deadline - time.monotonic()) > 0:
            found = await self.consumer.getmany(timeout_ms=max(1, int(left * 1000)))
        records = [record_fields(record) for batch in found.values() for record in batch]
        return {"records": records, "positions": await self._positions(self.consumer)}

    async def close(self) -> None:
        """The producer is not stopped: its ``stop`` waits for all that is not sent."""
        if self.consumer is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.consumer.stop(), CLOSE_SECONDS)

    def deliveries(self) -> list[Fields]:
        arrived, self.arrived = self.arrived, []
        return arrived

    def said(self, error: BaseException) -> Fields:
        unsure = isinstance(error, KafkaTimeoutError | RequestTimedOutError | TimeoutError)
        return {"outcome": "unsure" if unsure else "refused", "error": self._explained(error)}

    async def _producer(self) -> AIOKafkaProducer:
        if self.opened is not None and self.starting is not None and _failed(self.starting):
            await self._within_block(self.opened.stop())
            self.opened = None
        if self.opened is None or self.starting is None:
            self.opened = AIOKafkaProducer(**_known(AIOKafkaProducer, _producing(self.settings)))
            self.starting = asyncio.create_task(self.opened.start())
        await self._within_block(self.starting)
        return self.opened

    async def _within_block(self, call: Awaitable[Any]) -> Any:
        """:raises TimeoutError: when the call goes on after ``block_ms``; it is not ended by that."""
        running = asyncio.ensure_future(call)
        self.running.add(running)
        running.add_done_callback(self.running.discard)
        seconds = self.settings["block_ms"] / 1000
        done, _ = await asyncio.wait({running}, timeout=seconds)
        if not done:
            raise TimeoutError(f"the call goes on after {seconds:g} s")
        return running.result()

    def _slack_seconds(self) -> float:
        """More than the library takes for a record: at most twice ``request_timeout_ms``, as its documentation says."""
        return 2 * self.settings["request_timeout_ms"] / 1000 + 5.0

    async def _positions(self, consumer: AIOKafkaConsumer) -> list[Fields]:
        """Of partitions whose position is known; ``position`` waits for it where it is not."""
        positions = []
        for place in consumer.assignment():
            with suppress(TimeoutError):
                offset = await asyncio.wait_for(consumer.position(place), POSITION_SECONDS)
                positions.append({"topic": place.topic, "partition": place.partition, "offset": offset})
        return positions

    def _delivered(self, topic: str, partition: int, value: str, result: "asyncio.Future[Any]") -> None:
        place = {"topic": topic, "partition": partition, "value": value}
        error = asyncio.CancelledError() if result.cancelled() else result.exception()
        if error is not None:
            self.arrived.append({**place, "offset": None, **self.said(error)})
        else:
            self.arrived.append({**place, "offset": known_offset(result.result().offset), "outcome": "done"})

    def _explained(self, error: BaseException) -> Fields:
        """The error, its class, and what it wraps; the state of the transactions is as the library keeps it."""
        state = getattr(self.opened, "_txn_manager", None)
        kinds = {
            "fenced": isinstance(error, ProducerFenced),
            "fatal": state is not None and state.is_fatal_error(),
            "abortable": state is not None and state.state.name == "ABORTABLE_ERROR",
            "retriable": getattr(error, "retriable", False),
        }
        kind = next((name for name, is_so in kinds.items() if is_so), None)
        cause = error.__cause__
        causes = [] if cause is None else [error_fields(type(cause).__name__, str(cause), _code(cause))]
        return error_fields(type(error).__name__, str(error), _code(error), kind, causes)


def _failed(task: "asyncio.Task[None]") -> bool:
    return task.done() and task.exception() is not None


def _code(error: BaseException) -> int | None:
    return error.errno if isinstance(error, BrokerResponseError) else None


def _known(client: type, settings: Fields) -> Fields:
    """The settings that this version of the library has."""
    names = inspect.signature(client).parameters
    return {name: value for name, value in settings.items() if name in names}


def _producing(given: Fields) -> Fields:
    return {**producer_settings(given), "max_batch_size": given["batch_bytes"]}


async def main() -> None:
    adapter = Adapter()
    await serve_async(adapter, adapter.said, adapter.deliveries)


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)
    asyncio.run(main())
