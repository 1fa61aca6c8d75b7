"""The judge's speed: transactions a second, and how linear, with a driver of 4 GiB; and what the recorder costs."""

import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import psutil
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one judgement.

    :param cpu_seconds: Of the JVM on all processors; unlike ``seconds`` it hardly depends on what else is at work.
    """

    seconds: float
    cpu_seconds: float


@dataclass(slots=True)
class Measured:
    """By number of operations: the first judgement, and the last when the JVM had compiled its plans."""

    first: dict[int, Cost] = field(default_factory=dict)
    last: dict[int, Cost] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """A table; ``of line`` compares processor time with a straight line through the smallest and the largest."""
        yield f"{'operations':>12} {'first':>8} {'last':>8} {'cpu':>8} {'txn/s':>9} {'of wanted':>10} {'of line':>8}"
        for operations, cost in sorted(self.last.items()):
            rate = operations / OPERATIONS_A_TXN / cost.seconds
            straight = f"{cost.cpu_seconds / self._line(operations):.2f}" if len(self.last) > 1 else ""
            took = f"{self.first[operations].seconds:>7.1f}s {cost.seconds:>7.1f}s {cost.cpu_seconds:>7.1f}s"
            yield f"{operations:>12,} {took} {rate:>9,.0f} {rate / WANTED:>10.0%} {straight:>8}"

    def _line(self, operations: int) -> float:
        least, most = min(self.last), max(self.last)
        first, last = (self.last[end].cpu_seconds for end in (least, most))
        return first + (last - first) / (most - least) * (operations - least)


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


def _judge(session: SparkHandle, folder: Path) -> Cost:
    jvm = psutil.Process(session.gateway.proc.pid)
    started, used = time.monotonic(), _cpu_seconds(jvm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves collect()'s sockets to the collector
        judgement = judge(open_history(session.spark, folder))
    cost = Cost(seconds=time.monotonic() - started, cpu_seconds=_cpu_seconds(jvm) - used)
    assert (judgement.status, judgement.anomalies) == (Status.HOLDS, {})
    return cost


def _cpu_seconds(jvm: psutil.Process) -> float:
    times = jvm.cpu_times()
    return float(times.user + times.system)


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
