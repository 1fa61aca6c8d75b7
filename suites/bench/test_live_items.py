"""What one requirement on the wire costs on a warm cluster: stimulus, healing, settling, draining, judging."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from harness.base.paths import CONTRACT
from harness.contract import Order, Status
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, find
from harness.run import Run, examine

CALM = [entry for entry in find(CONTRACT) if entry.requirement.order is Order.CALM]


@pytest.mark.benchmark(group="a wire requirement's live item")
@pytest.mark.parametrize("entry", CALM, ids=lambda entry: entry.requirement.id)
def test_live_item(benchmark: BenchmarkFixture, warm_run: Run, entry: CatalogueEntry) -> None:
    verdict = benchmark.pedantic(examine, args=(warm_run, entry.requirement), rounds=7, warmup_rounds=2)
    assert verdict.status in (Status.HOLDS, Status.NOT_OFFERED)
