"""A commit that meets its own fence (``suites/chaos/findings/commit-while-fenced.md``); Byteman makes it certain."""

from pathlib import Path
from typing import Literal

import pytest

from harness.base.wait import until
from harness.cluster.cluster import BreakCode
from harness.contract import KafkaError
from harness.contract.byteman.rule_text import rule
from harness.lab.lab import Lab
from suites.selfcheck.fixtures.live_clients import breakable_lab

pytestmark = pytest.mark.live

TIMEOUT_MS, DELAY_MS = 6_000, 5_000
BEGUN = "a fence is prepared"
METADATA = "org.apache.kafka.coordinator.transaction.TransactionMetadata"
LATE_ABORT = rule(
    "between a fence and the abort that it is for some seconds pass",
    "kafka.coordinator.transaction.TransactionCoordinator#endTransaction",
    f"delay({DELAY_MS})",
    when="!$5",
) + rule(BEGUN, f"{METADATA}#prepareFenceProducerEpoch", 'debug("fence")')
NEXT_ANSWER = {1: KafkaError.PRODUCER_FENCED, 2: KafkaError.INVALID_TXN_STATE}
"""Of a commit once the abort is complete, by the client's protocol."""


@pytest.mark.parametrize("protocol", [1, 2])
def test_a_commit_between_the_fence_and_its_abort_is_an_unknown_error(tmp_path: Path, protocol: Literal[1, 2]) -> None:
    with breakable_lab("4.3.1", tmp_path) as lab:
        txn = lab.producer(protocol=protocol, timeout_ms=TIMEOUT_MS)
        with lab.broken(LATE_ABORT):
            txn.write(lab.partition("P1"))
            await_the_fence(lab)
            assert txn.end(commit=True, as_="early", retry=()).error == KafkaError.UNKNOWN_SERVER_ERROR
            aborted = lab.reached(txn, "CompleteAbort", as_="aborted", timeout_seconds=20)
        assert aborted.fields["state"] == "CompleteAbort"
        assert txn.end(commit=True, as_="late", retry=()).error == NEXT_ANSWER[protocol]


def await_the_fence(lab: Lab) -> None:
    """Until the coordinator has prepared it for the overdue transaction, with seconds to the abort."""
    cluster = lab.cluster
    assert isinstance(cluster, BreakCode)
    until(lambda: BEGUN in cluster.entered_rules(), what="the fence", timeout_seconds=20)
