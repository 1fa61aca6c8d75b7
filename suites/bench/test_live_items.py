"""What one requirement on the wire costs on a warm cluster: stimulus, healing, settling, draining, judging."""

from collections.abc import Sequence

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from harness.app.side_by_side import JOBS, SideBySide
from harness.base.paths import CONTRACT
from harness.contract import Order, Requirement, Status, Verdict
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, find
from harness.lab import Lab
from harness.run import Run, examine

JUDGED = {Status.HOLDS, Status.NOT_OFFERED, Status.VIOLATED}  # a known failure is judged all the same
EVERY = [entry for entry in find(CONTRACT) if entry.requirement.cluster is None]
CALM = [entry for entry in EVERY if entry.requirement.order is Order.CALM]
TOGETHER = [entry.requirement for entry in EVERY if entry.requirement.beside_others]
APART = [entry.requirement for entry in EVERY if entry.requirement.order is Order.HOLDS_LINKS]


@pytest.mark.benchmark(group="a wire requirement's live item")
@pytest.mark.parametrize("entry", CALM, ids=lambda entry: entry.requirement.id)
def test_live_item(benchmark: BenchmarkFixture, warm_run: Run, entry: CatalogueEntry) -> None:
    verdict = benchmark.pedantic(examine, args=(warm_run, entry.requirement), rounds=5, warmup_rounds=1)
    assert verdict.status in JUDGED


@pytest.mark.benchmark(group="all that may be tried side by side, on a warm cluster")
@pytest.mark.parametrize("jobs", [1, 3, JOBS], ids="{} at a time".format)
def test_side_by_side(benchmark: BenchmarkFixture, warm_run: Run, jobs: int) -> None:
    """One after another is the measure; what is gained is waiting, what is left is the processor's."""
    verdicts = benchmark.pedantic(tried, args=(warm_run, TOGETHER, jobs), rounds=2, warmup_rounds=1)
    assert {verdict.status for verdict in verdicts} <= JUDGED


@pytest.mark.benchmark(group="all that hold links, on a warm cluster alone, and with a second one that has to start")
@pytest.mark.parametrize("clusters", [1, 2])
def test_on_two_clusters(benchmark: BenchmarkFixture, warm_run: Run, clusters: int) -> None:
    """Each is alone on its cluster."""
    verdicts = benchmark.pedantic(tried, args=(warm_run, APART, JOBS, clusters), rounds=2)
    assert {verdict.status for verdict in verdicts} <= JUDGED


def tried(run: Run, requirements: Sequence[Requirement[Lab]], jobs: int, clusters: int = 1) -> list[Verdict]:
    """All their verdicts."""
    beside = SideBySide(requirements=requirements, jobs=jobs, clusters=clusters)
    try:
        return [beside.verdict(run, requirement) for requirement in requirements]
    finally:
        beside.stop()
