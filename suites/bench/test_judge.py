"""The judge's speed: transactions a second, and how linear, with a driver of 4 GiB; and what the recorder costs."""

import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from harness.base import wait
from harness.base.clock import RunClock
from harness.clients.client import CallResult, Client
from harness.clients.recording_client import RecordingClient
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import Outcome, Value
from harness.evidence.status import Status
from harness.judge import judge
from harness.spark.history.history_frames import open_history
from harness.spark.session.spark_session import SparkHandle, open_session
from harness.spark.session.spark_settings import Build, JvmPace
from suites.bench.clean_history import OPERATIONS_A_TXN, make_history

SIZES = tuple(int(float(size)) for size in os.environ.get("OPERATIONS", "1e4,1e5,1e6,1e7").split(","))
"""Operations, of some 40 bytes of Parquet; ``OPERATIONS=1e8`` for a session of its own."""
WANTED = 100_000
"""Transactions a second that the judge is to reach."""


@dataclass(slots=True)
class Measured:
    """Seconds by number of operations: of the first judgement, and of the last when the JVM had compiled its plans."""

    first: dict[int, float] = field(default_factory=dict)
    last: dict[int, float] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """A table; ``of line`` compares with a straight line through the smallest and the largest history."""
        yield f"{'operations':>12} {'first':>8} {'last':>8} {'txn/s':>9} {'of wanted':>10} {'of line':>8}"
        for operations, seconds in sorted(self.last.items()):
            rate = operations / OPERATIONS_A_TXN / seconds
            straight = f"{seconds / self._line(operations):.2f}" if len(self.last) > 1 else ""
            counts = f"{operations:>12,} {self.first[operations]:>7.1f}s {seconds:>7.1f}s {rate:>9,.0f}"
            yield f"{counts} {rate / WANTED:>10.0%} {straight:>8}"

    def _line(self, operations: int) -> float:
        least, most = min(self.last), max(self.last)
        slope = (self.last[most] - self.last[least]) / (most - least)
        return self.last[least] + slope * (operations - least)


@pytest.fixture(scope="module")
def session() -> Iterator[SparkHandle]:
    """A session as a night's history is judged with."""
    with open_session(name="bench", build=Build(memory="4g", pace=JvmPace.STEADY)) as opened:
        yield opened


@pytest.fixture(scope="module")
def measured(request: pytest.FixtureRequest) -> Iterator[Measured]:
    """What was measured; printed at the end."""
    table = Measured()
    yield table
    plugins = request.config.pluginmanager
    terminal, capture = plugins.get_plugin("terminalreporter"), plugins.get_plugin("capturemanager")
    assert terminal is not None
    assert capture is not None
    with capture.global_and_fixture_disabled():
        terminal.write_line("")
        for line in table.lines():
            terminal.write_line(line)


@pytest.fixture(scope="module")
def warm(session: SparkHandle, tmp_path_factory: pytest.TempPathFactory) -> SparkHandle:
    """The session once it has judged a little: a JVM that has just begun is not what is measured."""
    _judge(session, make_history(session.spark, tmp_path_factory.mktemp("warm") / "run", 8_000))
    return session


@pytest.mark.benchmark(group="the judge on a sound history")
@pytest.mark.parametrize("operations", SIZES, ids=lambda size: f"{size:.0e}")
def test_judging(
    benchmark: BenchmarkFixture, warm: SparkHandle, measured: Measured, tmp_path: Path, operations: int
) -> None:
    folder = make_history(warm.spark, tmp_path / "run", operations // OPERATIONS_A_TXN)
    measured.first[operations] = _judge(warm, folder)
    measured.last[operations] = benchmark.pedantic(_judge, args=(warm, folder), rounds=1)


def _judge(session: SparkHandle, folder: Path) -> float:
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves collect()'s sockets to the collector
        judgement = judge(open_history(session.spark, folder))
    seconds = time.monotonic() - started
    assert (judgement.status, judgement.anomalies) == (Status.HOLDS, {})
    return seconds


ROUND_TRIP = 0.002
"""Seconds that a produce to three replicas on one machine takes, about."""


@dataclass(slots=True)
class Steady:
    """A client whose every produce is done in the same time."""

    kind: str = "wire-v2"
    protocol: str = "v2"

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """Wait for a round trip."""
        assert topic
        assert value.size
        wait.pause(ROUND_TRIP)
        return CallResult(outcome=Outcome.DONE, producer_id=1, epoch=0, offset=partition)


@pytest.mark.benchmark(group="a produce, bare and recorded")
def test_a_bare_produce(benchmark: BenchmarkFixture) -> None:
    client, value = Steady(), Value(txn=1, ordinal=0, size=1, payload="money:a:-5")
    benchmark.pedantic(client.produce, args=("accounts", 0, value), rounds=1_000)


@pytest.mark.benchmark(group="a produce, bare and recorded")
def test_a_recorded_produce(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    history_journal = HistoryJournal(tmp_path)
    client = RecordingClient(
        client=cast(Client, Steady()),
        actor="teller",
        transactional_id="teller",
        clock=RunClock(),
        history_journal=history_journal,
        txn=1,
        size=1,
    )
    benchmark.pedantic(client.produce, args=("accounts", 0, "money:a:-5"), rounds=1_000)
    history_journal.close()
    assert len((tmp_path / "operations.jsonl").read_text().splitlines()) == 1_000
