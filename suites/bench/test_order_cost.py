"""Where a search for orders is faster: in the driver, or in Spark's executors, which must start Python first."""

from collections.abc import Iterator

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from harness.judge.order_search import OrderSearch
from harness.judge.order_searches import search_all
from harness.model.protocol_profile import NEWEST
from harness.spark.session.spark_session import SparkHandle, open_session
from suites.selfcheck.fixtures.histories.wire_operations import wire_operations

SEARCH = OrderSearch(profile=NEWEST, produce=12, repeated=(), timeouts={})
SIZES = (2_000, 8_000, 32_000, 64_000)
"""Operations, of ten for each id."""
PLACES = {"driver": 1_000_000, "executors": 0}


@pytest.fixture(scope="module")
def session() -> Iterator[SparkHandle]:
    """A session as a round is judged with."""
    with open_session(name="orders") as opened:
        yield opened


@pytest.mark.benchmark(group="orders of a history's requests")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("operations", SIZES)
def test_searching(benchmark: BenchmarkFixture, session: SparkHandle, operations: int, place: str) -> None:
    rows = wire_operations(session.spark, operations // 10, 3).cache()
    rows.count()
    searched = benchmark.pedantic(search_all, args=(rows, SEARCH, PLACES[place]), rounds=2, warmup_rounds=1)
    assert len(searched) == operations // 10
