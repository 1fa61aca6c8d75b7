"""A transaction aborted before its time (``suites/chaos/findings/early-abort.md``); Byteman makes the delay certain."""

from pathlib import Path

import pytest

from harness.base.wait import until
from harness.contract.byteman.rule_text import rule
from harness.lab.lab import Lab
from harness.lab.partition import Partition
from harness.lab.powers.timeouts import cleanup_ms
from harness.lab.producer import Producer
from suites.selfcheck.fixtures.live_clients import breakable_lab

pytestmark = pytest.mark.live

TIMEOUT_MS, DELAY_MS, ROOM_MS = 7_000, 6_000, 1_000
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
            for producer in (overdue, patient):
                begin_the_next(lab, producer, partition)
            until(lambda: state(lab, overdue) == "CompleteAbort", what="the abort", timeout_seconds=10)
        assert age_of_the_aborted(lab, overdue) < TIMEOUT_MS
        assert state(lab, patient) == "Ongoing"


def await_the_look(lab: Lab, txn: Producer) -> None:
    """Until the coordinator has looked after the transaction was overdue; it looks again and again."""
    looked = lab.clock.now() + TIMEOUT_MS + cleanup_ms(lab, txn.coordinator) + ROOM_MS
    until(lambda: lab.clock.now() > looked, what="the look", timeout_seconds=2 * TIMEOUT_MS / 1000)
    assert state(lab, txn) == "Ongoing"


def begin_the_next(lab: Lab, txn: Producer, partition: Partition) -> None:
    """After what is open was committed."""
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", as_="committed")
    txn.write(partition)


def age_of_the_aborted(lab: Lab, txn: Producer) -> int:
    """How old the one transaction of the id that was aborted was then, in milliseconds of its coordinator's clock."""
    records = lab.observer.transaction_records(txn.transactional_id, txn.coordinator)
    (prepared,) = [each for each in records if isinstance(each, dict) and each["state"] == "PrepareAbort"]
    ended, begun = prepared["last_update_ms"], prepared["start_ms"]
    assert isinstance(ended, int)
    assert isinstance(begun, int)
    return ended - begun


def state(lab: Lab, txn: Producer) -> str:
    return lab.observer.state(txn.transactional_id, txn.coordinator)
