"""A Structured Streaming reader that reads during a whole chaos run, is killed in mid-batch, and is restarted.

It is read_committed, has a checkpoint, and writes Parquet exactly once; its trigger has a pause, so that brokers and
workload have the processors. Kafka may be unavailable for long: settings keep the query alive, and where it fails all
the same it is started again from its checkpoint, which is counted. Its progress is read from the checkpoint.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Literal, Self

from pyspark.sql import SparkSession

from harness.base import wait
from harness.base.json_value import Json
from harness.evidence.history.operation import ReaderEnd
from harness.spark.readers.catch_up import reached_after
from harness.spark.readers.checkpoint import Checkpoint
from harness.spark.readers.committed_stream import GROUP, CommittedReader
from harness.wire.security.security import PLAINTEXT, Security

PACE_MS = 1_000
"""Twice as many micro-batches took a third of a core and a visible part of a workload's throughput; these take half."""
ALIVE_EVERY_SECONDS = 1.0
"""Between two checks that the query is alive; so a failed one waits at most this long for its restart."""
REACHED_EVERY_SECONDS = 0.05
BEHIND_STABLE_SECONDS = 10.0
"""That a reader is watched for reading on behind a last stable offset below the high watermark."""
BATCH_EVERY_SECONDS = 0.002
"""Between two checks whether a batch has begun."""

KAFKA_OPTIONS: Mapping[str, str] = {
    # A broker that was paused or cut off answers late or never: half a minute by default, while another one leads.
    "kafka.request.timeout.ms": "4000",
    # The driver's question for offsets stays with the leader it was meant for, dead or not, until this is over; only
    # then does a new admin client ask the new leader. A minute by default.
    "kafka.default.api.timeout.ms": "6000",
    "kafka.reconnect.backoff.max.ms": "500",
    # A leader that is cut off from the controller goes on answering as it did; five minutes by default.
    "kafka.metadata.max.age.ms": "2000",
    "fetchOffset.numRetries": "10",
    "fetchOffset.retryIntervalMs": "500",
}
DELETED_OPTIONS: Mapping[str, str] = {"failOnDataLoss": "false"}
"""Where records are deleted before they are read the query goes on behind them; what it owes the judge knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A query's end and the beginning of the next from the same checkpoint.

    :param in_mid_batch: A batch was begun and not over when the query had ended; the next query does it again.
    :param resumed_after: The last batch that was over.
    """

    cause: Literal["killed", "died"]
    why: str
    in_mid_batch: bool
    resumed_after: int


@dataclass(slots=True, kw_only=True)
class ResumableReader:
    """One reader; its name in the history is that of ``folder``, which is ``<round>/spark/<name>``.

    :param group: What the names of its groups begin with; no group comes into being.
    :param bootstrap: The addresses of the lane that it reads through; ``security`` says how.
    :param deleted: Whether records may be deleted while it reads.
    """

    spark: SparkSession
    bootstrap: str
    topics: Sequence[str]
    folder: Path
    pace_ms: int = PACE_MS
    security: Security = PLAINTEXT
    group: str = "fencepost-spark"
    deleted: bool = False
    restarts: list[Restart] = field(default_factory=list)
    _reader: CommittedReader | None = None
    _lock: Lock = field(default_factory=Lock)
    _over: Event = field(default_factory=Event)
    _monitor: Thread | None = None

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(folder=self.folder / "checkpoint")

    def start(self) -> Self:
        """Start reading, from the checkpoint if there is one, and restart a query that fails until :meth:`stop`."""
        self._over.clear()
        self._open()
        self._monitor = Thread(target=self._restart_when_failed, name=f"monitor of {self.folder.name}", daemon=True)
        self._monitor.start()
        return self

    def kill_and_restart(
        self, *, timeout_seconds: float = 10.0, kill: Callable[[], SparkSession] | None = None
    ) -> Restart:
        """End the query in the middle of a micro-batch and start another one from its checkpoint.

        :param timeout_seconds: Seconds to wait for a batch to be in the middle of; then ``in_mid_batch`` is False.
        :param kill: Ends the query's JVM and gives another session. Without it the query's thread is interrupted and
            its job cancelled (Spark's ``StreamingQuery.stop``), which takes no second JVM.
        """
        with self._lock:
            wait.elapsed_ms_until(
                lambda: self.checkpoint.in_mid_batch,
                timeout_seconds=timeout_seconds,
                interval_seconds=BATCH_EVERY_SECONDS,
            )
            if kill is None:
                self._stop_query()
            else:
                self.spark = kill()
            return self._restart("killed", "in mid-run, on purpose")

    def finish(
        self,
        high_watermarks: Mapping[tuple[str, int], int],
        stable_offsets: Mapping[tuple[str, int], int],
        *,
        timeout_seconds: float,
    ) -> tuple[ReaderEnd, ...]:
        """Wait until each partition is read to its high watermark, or the reader gets no further; then stop.

        :param timeout_seconds: Seconds that it may go without a batch that begins or is over; where it has come to all
            last stable offsets it should stay, and :data:`BEHIND_STABLE_SECONDS` show that.
        :return: How far it came on each; a reader that did not get there does not fail.
        """
        started = time.monotonic()
        if self._reached(stable_offsets, timeout_seconds).keys() >= stable_offsets.keys():
            timeout_seconds = min(timeout_seconds, BEHIND_STABLE_SECONDS)
        self._reached(high_watermarks, timeout_seconds)
        waited = round((time.monotonic() - started) * 1000, 3)
        self.stop()
        ends = self.checkpoint.ends()
        return tuple(self._end(place, ends.get(place, 0), wanted, waited) for place, wanted in high_watermarks.items())

    def _reached(
        self, wanted: Mapping[tuple[str, int], int], timeout_seconds: float
    ) -> Mapping[tuple[str, int], float]:
        return reached_after(
            lambda: self.checkpoint.ends(),
            wanted,
            timeout_seconds=timeout_seconds,
            interval_seconds=REACHED_EVERY_SECONDS,
            progress=lambda: (self.checkpoint.planned, self.checkpoint.committed),
        )

    def facts(self) -> dict[str, Json]:
        """For the run's facts: batches that are over, and every restart."""
        restarts: list[Json] = [asdict(restart) for restart in self.restarts]
        return {"batches": self.checkpoint.committed + 1, "pace_ms": self.pace_ms, "restarts": restarts}

    def stop(self) -> None:
        """End the query. May be called twice."""
        self._over.set()
        if self._monitor is not None:
            self._monitor.join()
        self._stop_query()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _open(self) -> None:
        self._reader = CommittedReader(
            spark=self.spark,
            bootstrap=self.bootstrap,
            topics=self.topics,
            folder=self.folder,
            pace_ms=self.pace_ms,
            files=1,
            options={**KAFKA_OPTIONS, **(DELETED_OPTIONS if self.deleted else {}), GROUP: self.group},
            security=self.security,
        ).start()

    def _stop_query(self) -> None:
        if self._reader is not None:
            self._reader.stop()

    def _restart(self, cause: Literal["killed", "died"], why: str) -> Restart:
        checkpoint = self.checkpoint
        restart = Restart(
            cause=cause, why=why, in_mid_batch=checkpoint.in_mid_batch, resumed_after=checkpoint.committed
        )
        self._open()
        self.restarts.append(restart)
        return restart

    def _restart_when_failed(self) -> None:
        while not self._over.wait(ALIVE_EVERY_SECONDS):
            with self._lock:
                died = self._reader.failure() if self._reader is not None else None
                if died is not None:
                    self._restart("died", died)

    def _end(self, place: tuple[str, int], end: int, wanted: int, waited: float) -> ReaderEnd:
        return ReaderEnd(
            reader=self.folder.name,
            kind="spark",
            isolation="read_committed",
            topic=place[0],
            partition=place[1],
            end_offset=end,
            wanted=wanted,
            waited_ms=waited,
        )
