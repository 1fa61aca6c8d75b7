"""Spark reads from a real cluster and is killed in mid-batch: it delivers each committed record once.

Needs Java, and once Maven and Go. Starts a cluster and a Spark session of its own.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession

from harness.base import wait
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.spark.readers.resumable_reader import Restart, ResumableReader
from harness.spark.readers.sink_files import delivered_files
from harness.spark.session.spark_session import SparkHandle, open_session
from suites.selfcheck.live.chaos.drain_environment import DrainEnvironment, transact

pytest_plugins = ("suites.selfcheck.live.chaos.drain_environment",)
pytestmark = pytest.mark.live

BOUND_SECONDS = 120.0
"""For a batch of a JVM that has just begun, on a machine with other work."""


@dataclass(slots=True, kw_only=True)
class Spark:
    """One session at a time."""

    session: SparkHandle

    def killed(self) -> SparkSession:
        """Its JVM is gone as by SIGKILL; another one is there."""
        self.session.close(in_order=False)
        self.session = open_session(name="drains")
        return self.session.spark


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    """One session for all readers."""
    opened = Spark(session=open_session(name="drains"))
    yield opened
    opened.session.close(in_order=False)


@contextmanager
def written(producer: Producer, partitions: Sequence[Partition]) -> Iterator[set[tuple[str, str]]]:
    """Transactions one after the other for the length of the block, each third aborted; topic and value of the rest."""
    over, committed = Event(), set[tuple[str, str]]()

    def write() -> None:
        for txn in count(1):
            if over.is_set():
                return
            transact(producer, txn, partitions, commit=txn % 3 != 0)
            values = ((each.topic, f"{txn}/{nth}/{len(partitions)}/x") for nth, each in enumerate(partitions))
            committed.update(values if txn % 3 else ())

    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(write)
        try:
            yield committed
        finally:
            over.set()
            writing.result()


def killed_in_mid_batch(reader: ResumableReader, kill: Callable[[], SparkSession] | None) -> Restart:
    """Kill it until a kill came before the end of the batch; whatever it came before, nothing may be lost or double."""

    def killed() -> Restart | None:
        restart = reader.kill_and_restart(kill=kill)
        return restart if restart.in_mid_batch else None

    return wait.until(killed, what="a kill in the middle of a batch", timeout_seconds=BOUND_SECONDS)


@pytest.mark.parametrize("hard", [False, True], ids=["query stopped", "JVM killed"])
def test_spark_killed_in_mid_batch_delivers_each_committed_record_once(
    hard: bool, environment: DrainEnvironment, spark: Spark, tmp_path: Path
) -> None:
    partitions = [environment.lab.partition(alias, replicas=3) for alias in ("P5", "P6")]
    writer = environment.lab.producer()
    reader = ResumableReader(
        spark=spark.session.spark,
        bootstrap=environment.cluster.topology.bootstrap("observer"),
        topics=[partition.topic for partition in partitions],
        folder=tmp_path / "spark" / "through",
        pace_ms=100,
    )
    with reader:
        with written(writer, partitions) as committed:
            wait.until(lambda: reader.checkpoint.committed >= 2, what="three batches", timeout_seconds=BOUND_SECONDS)
            killed = killed_in_mid_batch(reader, spark.killed if hard else None)
            wait.until(
                lambda: reader.checkpoint.committed > killed.resumed_after,
                what="a batch after",
                timeout_seconds=BOUND_SECONDS,
            )
        environment.lab.completed(*partitions)
        marks = {each.topic_partition: environment.lab.observer.sample(each).high_watermark for each in partitions}
        ends = reader.finish(marks, marks, timeout_seconds=BOUND_SECONDS)
    assert (killed.cause, killed.in_mid_batch) == ("killed", True)
    assert [(end.end_offset, end.wanted) for end in ends] == [(mark, mark) for mark in marks.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark lets the collector close collect()'s socket
        delivered = spark.session.spark.read.parquet(*(str(path) for _, path in delivered_files(tmp_path)))
        seen = [(row.topic, row.value) for row in delivered.collect()]
    assert len(committed) >= 4
    assert Counter(seen) == Counter(committed)
