"""A transaction aborted before its time (``suites/chaos/findings/early-abort.md``); Byteman makes the delay certain."""

import time
from pathlib import Path

import pytest

from harness.base.json_value import Json
from harness.base.wait import until
from harness.contract.byteman.rule_text import rule
from harness.lab.lab import Lab
from harness.lab.partition import Partition
from harness.lab.powers.timeouts import cleanup_ms
from harness.lab.producer import Producer
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from suites.selfcheck.fixtures.live_clients import breakable_lab

pytestmark = pytest.mark.live

TIMEOUT_MS, DELAY_MS, ROOM_MS = 7_000, 5_000, 1_000
LATE_END = rule(
    "between the look for overdue transactions and their end some seconds pass",
    "kafka.coordinator.transaction.TransactionStateManager#timedOutTransactions",
    f"delay({DELAY_MS})",
    when="!$!.isEmpty()",
    at="EXIT",
)


def test_what_begins_after_an_overdue_transaction_is_aborted_before_its_own_timeout(tmp_path: Path) -> None:
    with breakable_lab("4.3.1", tmp_path) as lab:
        partition = lab.partition("P1")
        overdue = lab.producer(protocol=2, timeout_ms=TIMEOUT_MS)
        patient = lab.producer(protocol=2, coordinator=overdue.coordinator)
        with lab.broken(LATE_END):
            overdue.write(partition)
            patient.write(partition)
            await_the_look(lab, overdue)
            begun_ms = began_the_next(lab, overdue, partition)
            began_the_next(lab, patient, partition)
            until(lambda: kept(lab, overdue)["state"] == "CompleteAbort", what="the abort", timeout_seconds=10)
            assert now_ms() - begun_ms < TIMEOUT_MS
        assert kept(lab, patient)["state"] == "Ongoing"


def await_the_look(lab: Lab, txn: Producer) -> None:
    """Until the coordinator has looked after the transaction was overdue, which it does all the time."""
    begun = kept(lab, txn)["start_time_ms"]
    assert isinstance(begun, int)
    looked = begun + TIMEOUT_MS + cleanup_ms(lab, txn.coordinator) + ROOM_MS
    until(lambda: now_ms() > looked, what="the look", timeout_seconds=2 * TIMEOUT_MS / 1000)
    assert kept(lab, txn)["state"] == "Ongoing"


def began_the_next(lab: Lab, txn: Producer, partition: Partition) -> int:
    """Commit what is open, begin another transaction; when that was, in milliseconds since 1970."""
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", as_="committed")
    txn.write(partition)
    begun = kept(lab, txn)["start_time_ms"]
    assert isinstance(begun, int)
    return begun


def kept(lab: Lab, txn: Producer) -> dict[str, Json]:
    """What the coordinator keeps of the id."""
    request = DescribeTransactions(transactional_id=txn.transactional_id)
    return dict(lab.step_recorder("observer").asked(txn.coordinator, request, 0, as_="look", retry=()).fields)


def now_ms() -> float:
    return time.time() * 1000
