"""A Structured Streaming query that reads topics as a read_committed consumer, into Parquet.

It reports how far it came (end offsets, never ``latestOffset``), and what it delivered, read from the
Parquet, whose own log of committed files makes each micro-batch count once.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from pyspark.sql import SparkSession

from harness.evidence.stream_account import StreamAccount
from harness.evidence.stream_reach import Reach, ReaderFailed
from harness.spark.readers.catch_up import reached_after
from harness.spark.readers.kafka_security import kafka_options
from harness.spark.readers.stream_progress import StreamProgress, one_sentence, parse_progress
from harness.wire.security.security import PLAINTEXT, Security

SCHEMA = "topic STRING, partition INT, offset LONG, value STRING"
GROUP = "groupIdPrefix"
"""The option of Spark's Kafka source for the beginning of the names of the groups that its consumers go by."""
POLL_SECONDS = 0.02
"""Between two reads of the progress, each of which takes some milliseconds."""


@dataclass(slots=True, kw_only=True)
class CommittedReader:
    """A reader of ``topics`` through ``bootstrap`` (a lane's addresses), with all that it writes under ``folder``.

    Where ``folder`` has a checkpoint already, it goes on from there.

    :param pace_ms: Least time from one micro-batch's start to the next one's; without it they follow without a pause.
    :param files: Files that a micro-batch writes at most; 0 for one a Kafka partition.
    :param options: More options of the Kafka source.
    :param security: How to connect.
    """

    spark: SparkSession
    bootstrap: str
    topics: Sequence[str]
    folder: Path
    pace_ms: int = 0
    files: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    security: Security = PLAINTEXT
    _query: Any = field(default=None)

    def start(self) -> Self:
        """Start reading, from the earliest offsets or the checkpoint."""
        records = self._kafka().selectExpr("topic", "partition", "offset", "CAST(value AS STRING) AS value")
        fewer = records.coalesce(self.files) if self.files else records
        writer = fewer.writeStream.format("parquet").option("checkpointLocation", str(self.folder / "checkpoint"))
        writer = writer.trigger(processingTime=f"{self.pace_ms} milliseconds")
        self._query = writer.start(str(self._delivered))
        return self

    def progress(self) -> StreamProgress:
        """How far the query has come; :raises ReaderFailed: when it has ended with an exception."""
        if (failure := self.failure()) is not None:
            raise ReaderFailed(f"Spark's reader of {', '.join(self.topics)} failed: {failure}")
        last = self._query.lastProgress
        return StreamProgress() if last is None else parse_progress(last.json)

    def failure(self) -> str | None:
        """One sentence when the query has ended with an exception."""
        failed = self._query.exception()
        return None if failed is None else one_sentence(str(failed))

    def caught_up_to(self, high_watermarks: Mapping[str, int], *, timeout_seconds: float) -> Mapping[str, Reach]:
        """Wait at most ``timeout_seconds`` seconds until each ``topic-index`` is read up to its high watermark.

        :raises ReaderFailed: When the query has ended with an exception.
        """
        reached = reached_after(
            lambda: self.progress().end_offsets,
            high_watermarks,
            timeout_seconds=timeout_seconds,
            interval_seconds=POLL_SECONDS,
        )
        ends = self.progress().end_offsets
        return {
            place: Reach(end_offset=ends.get(place, 0), wanted=wanted, reached_ms=reached.get(place))
            for place, wanted in high_watermarks.items()
        }

    def delivered(self) -> Mapping[str, tuple[tuple[int, str], ...]]:
        """Every (offset, value) delivered so far by ``topic-index``, by offset; what came twice is there twice."""
        by_place: dict[str, list[tuple[int, str]]] = {}
        for row in self._rows():
            by_place.setdefault(f"{row.topic}-{row.partition}", []).append((row.offset, row.value))
        return {place: tuple(sorted(records)) for place, records in by_place.items()}

    def account(self, reached: Mapping[str, Reach]) -> dict[str, StreamAccount]:
        """What a check needs of this reader, by ``topic-index``."""
        delivered, batches = self.delivered(), self.progress().micro_batches
        return {place: accounted(reach, delivered.get(place, ()), batches) for place, reach in reached.items()}

    def stop(self) -> None:
        """End the query. May be called twice."""
        if self._query is not None:
            self._query.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def _delivered(self) -> Path:
        return self.folder / "delivered"

    def _kafka(self) -> Any:
        options = {
            "kafka.bootstrap.servers": self.bootstrap,
            "kafka.isolation.level": "read_committed",
            # A marker is no record: the consumer asks again behind it, at the log's end, and by default waits 500 ms.
            "kafka.fetch.max.wait.ms": "10",
            "subscribe": ",".join(self.topics),
            "startingOffsets": "earliest",
            **self.options,
            **kafka_options(self.security),
        }
        return self.spark.readStream.format("kafka").options(**options).load()

    def _rows(self) -> Sequence[Any]:
        if not (self._delivered / "_spark_metadata").is_dir():
            return ()  # no micro-batch has ended yet
        rows = self.spark.read.schema(SCHEMA).parquet(str(self._delivered))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # pyspark lets the collector close collect()'s socket
            return tuple(rows.collect())


def accounted(reach: Reach, delivered: Sequence[tuple[int, str]], micro_batches: int) -> StreamAccount:
    values = tuple(value for _, value in delivered)
    return StreamAccount(**asdict(reach), micro_batches=micro_batches, delivered=values)
