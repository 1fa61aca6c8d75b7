"""librdkafka's mock cluster delivers aborted and open records to read_committed clients: the judge must name it.

Needs Java for Spark; no broker, and no network beyond this process.
"""

import gc
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.evidence.history.judgement import Judgement
from harness.evidence.status import Status
from harness.judge import judge
from harness.spark.history.history_frames import open_history
from harness.spark.history.seal import seal
from harness.spark.session.spark_session import open_session
from suites.selfcheck.fixtures.mock_cluster import READER, MockClusterRun, mock_cluster

Txns = Mapping[str, int]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Judgement, Txns]:
    """Two committed transactions, an aborted one and one that is left open; their numbers by their state."""
    folder = tmp_path_factory.mktemp("mock")
    with mock_cluster(folder) as run:
        txns = transactions_on(run)
        run.end()
    return judgement_of(folder), txns


def transactions_on(run: MockClusterRun) -> Txns:
    """Their numbers."""
    first, second = run.client("first"), run.client("second")
    committed = run.write(first, [0, 1, 2])
    assert first.commit().done
    aborted = run.write(first, [0, 1])
    assert first.abort().done
    again = run.write(first, [1, 2])
    assert first.commit().done
    return {"committed": committed, "aborted": aborted, "again": again, "open": run.write(second, [0, 2])}


def judgement_of(folder: Path) -> Judgement:
    """Sealed and judged."""
    with warnings.catch_warnings(), open_session(name="mock") as session:
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves collect()'s sockets to the collector
        seal(session.spark, folder)
        judgement = judge(open_history(session.spark, folder))
        gc.collect()
        return judgement


def accused(judgement: Judgement, anomaly: str) -> list[tuple[str, int | None, int | None]]:
    """View, transaction and partition of each finding of an anomaly."""
    found = [found for check in judgement.checks for found in check.findings if found.anomaly == anomaly]
    return sorted((each.view, each.txn, each.partition) for each in found)


def test_the_mock_cluster_is_violated(judged: tuple[Judgement, Txns]) -> None:
    assert judged[0].status is Status.VIOLATED


def test_aborted_records_that_a_read_committed_client_was_shown_are_aborted_reads(
    judged: tuple[Judgement, Txns],
) -> None:
    judgement, txns = judged
    assert accused(judgement, "aborted-read") == [(READER, txns["aborted"], 0), (READER, txns["aborted"], 1)]


def test_records_of_the_open_transaction_that_it_was_shown_are_dirty_reads(judged: tuple[Judgement, Txns]) -> None:
    judgement, txns = judged
    assert accused(judgement, "dirty-read") == [(READER, txns["open"], 0), (READER, txns["open"], 2)]


def test_the_open_transaction_hangs_and_the_stable_offset_is_wrong_and_nothing_else_is_named(
    judged: tuple[Judgement, Txns],
) -> None:
    judgement, _ = judged
    assert judgement.anomalies == {"aborted-read": 2, "dirty-read": 2, "hanging-transaction": 2, "wrong-lso": 2}
