"""Start-up: a whole cluster of ours, ready for a first transaction, beside one stock node, ready in two senses."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from harness.cluster.cluster import ClusterOptions
from harness.cluster.distribution import released
from harness.cluster.opening import open_cluster
from harness.cluster.target import Released
from harness.machine import toolchain
from suites.bench.conftest import VERSION
from suites.bench.stock_node import first_transaction, lists_itself, start_and_stop
from suites.selfcheck.fixtures.engines import left_on_engine

TARGET = Released(VERSION)
ROUNDS = 5


@pytest.mark.benchmark(group="start-up")
@pytest.mark.parametrize("ready", [lists_itself, first_transaction], ids=["answers Metadata", "first transaction"])
def test_one_stock_node(
    benchmark: BenchmarkFixture, tmp_path_factory: pytest.TempPathFactory, ready: Callable[[], bool]
) -> None:
    java, files = str(toolchain.java().program), released(TARGET, print)
    benchmark.pedantic(
        start_and_stop,
        setup=lambda: ((java, files, tmp_path_factory.mktemp("stock"), ready), {}),
        rounds=ROUNDS,
        warmup_rounds=1,
    )


@pytest.mark.benchmark(group="start-up")
@pytest.mark.parametrize("backend", ["process", "docker"])
def test_three_brokers_and_a_controller_behind_proxies(
    benchmark: BenchmarkFixture, tmp_path: Path, backend: str
) -> None:
    opened = []
    if backend == "docker":
        left_on_engine()

    def up() -> None:
        opened.append(
            open_cluster(TARGET, backend=backend, options=ClusterOptions(), run_dir=tmp_path, progress=lambda _: None)
        )

    def down() -> None:
        while opened:
            opened.pop().close()

    benchmark.pedantic(up, setup=down, rounds=ROUNDS, warmup_rounds=1)
    down()
