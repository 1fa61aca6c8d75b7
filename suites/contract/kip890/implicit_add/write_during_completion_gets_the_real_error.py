"""KIP890-IMPL-06: a new client that writes while its last transaction completes gets an error that it can retry.

The marker link is held, so that the transaction stays in PrepareCommit. A retriable refusal is the KIP's, which maps
CONCURRENT_TRANSACTIONS to NOT_ENOUGH_REPLICAS. Kafka's are the unmapped code, without a message, the state's name, and
that the broker tries the add again by itself for ``add.partitions.to.txn.retry.backoff.max.ms`` before it answers. Only
a lower bound of that time is judged: half of it, for coarse clocks.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.verification_rules import NEWEST_CLIENT_TAKEN_FOR_OLD, NO_RETRY_OF_ADDS
from harness.contract.doctored import adopted, commit, data, log, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

CONCURRENT, BY_KIP = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.NOT_ENOUGH_REPLICAS
RETRIED_FOR = "add.partitions.to.txn.retry.backoff.max.ms"


def stimulus(lab: Lab) -> None:
    """Commit with the markers to P1 held; write to P2 too early, and again after the release."""
    slow = lab.partition("P1")
    elsewhere = lab.another_broker(slow.leader)
    lab.link(elsewhere, slow.leader)  # where there is none, nothing need be opened
    quick = lab.partition("P2", leader=elsewhere)
    lab.note("patience_ms", lab.admin.config(quick.leader, RETRIED_FOR))
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2, coordinator=elsewhere)
        txn.write(slow)
        txn.write(quick)
        with lab.preparing(txn, slow, commit=True, name=f"held v{version}"):
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="while held")
            txn.produce(quick, version=version, retry=(), as_="early write")
        txn.produce(quick, version=version, as_="later write")
        txn.end(commit=True, as_="second end")


def check(seen: Evidence) -> Observations:
    """Refused as concurrent and without a message, not at once, not appended; and accepted after the release."""
    early, later = seen.all("early write"), seen.all("later write")
    retried_for_ms = float(str(seen.fact("patience_ms") or 0))
    for write, held, end in zip(early, seen.all("while held"), seen.all("end"), strict=True):
        expect.prepared(seen, f"held v{write.version}", end=end)
        yield expect.habit(expect.keeps(held, state="PrepareCommit"))
        yield expect.refused(write, CONCURRENT, otherwise="early-write-accepted", also=(BY_KIP,))
        yield expect.habit(expect.shows(write, error_message=None, otherwise="wrong-message"))
        waited, again = (write.answered or 0.0) - write.sent, "the broker tried again by itself"
        yield expect.habit(expect.unless(waited >= retried_for_ms / 2, again, write, otherwise="not-retried"))
    for end in (*seen.all("end"), *seen.all("second end")):
        yield expect.accepted(end, otherwise="end-refused")
    for write in later:
        yield expect.accepted(write, otherwise="refused-after-release")
    promised = [value for write in later for value in write.written()]
    # A record is named after its step ("victim early write #3"); those of the first transaction have none.
    named = [value for value in seen.log("P2").values() if " write " in value]
    yield expect.agree("records of the named writes", named, promised, *early, otherwise="early-record-appended")
    for alias in ("P1", "P2"):
        yield from expect.sound(seen, alias, shown="commit-not-shown")


GOOD = adopted(__file__, "KIP890-IMPL-06")
_APPENDED = log(*GOOD.log("P2").batches, data(7, 9, "victim early write #9"), commit(7, 9))

REQUIREMENT = Requirement(
    id="KIP890-IMPL-06",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="While the previous transaction completes, a new client's write gets a retriable error.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("early-write-accepted", GOOD.with_step("early write", error=0)),
        Refusal("wrong-state-kept", GOOD.with_step("while held", state="CompleteCommit")),
        Refusal("wrong-error", GOOD.with_step("early write", error=KafkaError.NOT_ENOUGH_REPLICAS)),
        Refusal("wrong-message", GOOD.with_step("early write", error_message="CONCURRENT_TRANSACTIONS")),
        Refusal("not-retried", GOOD.with_step("early write", answered=5.0)),
        *(
            Refusal("end-refused", GOOD.with_step(end, error=KafkaError.INVALID_TXN_STATE))
            for end in ("end", "second end")
        ),
        Refusal("refused-after-release", GOOD.with_step("later write", error=CONCURRENT)),
        Refusal("early-record-appended", GOOD.with_log("P2", _APPENDED)),
        *unsound(GOOD, "P1", appended=None, shown="commit-not-shown"),
        *unsound(GOOD, "P2", appended=None, shown="commit-not-shown"),
    ),
    refuted_by=(
        Failpoint(rules=NO_RETRY_OF_ADDS, anomaly="not-retried"),
        Failpoint(rules=NEWEST_CLIENT_TAKEN_FOR_OLD, anomaly="wrong-error"),
    ),
)
