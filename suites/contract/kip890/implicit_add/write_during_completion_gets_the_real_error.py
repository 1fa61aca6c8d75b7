"""KIP890-IMPL-06: a new client that writes while its last transaction completes is told CONCURRENT_TRANSACTIONS.

The marker link is held, so that the transaction stays in PrepareCommit. The broker tries the add again by itself for
``add.partitions.to.txn.retry.backoff.max.ms`` before it answers (IMPL≠KIP: the KIP maps the error to
NOT_ENOUGH_REPLICAS and knows no such retry). Only a lower bound of that time is judged: half of it, for coarse clocks.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    refused,
    unless,
)
from harness.contract.byteman.verification_rules import NEWEST_CLIENT_TAKEN_FOR_OLD, NO_RETRY_OF_ADDS
from harness.contract.doctored import commit, data, evidence, held_link, log, sample, step
from harness.evidence.requirement_evidence import Evidence, NotSeen, Step
from harness.lab import Lab

CONCURRENT_TRANSACTIONS = 51
PATIENCE = "add.partitions.to.txn.retry.backoff.max.ms"


def stimulus(lab: Lab) -> None:
    """Commit with the markers to P1 held; write to P2 too early, and again after the release."""
    slow, quick = lab.partition("P1"), lab.partition("P2")
    lab.note("patience_ms", lab.admin.config(quick.leader, PATIENCE))
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        txn.write(slow)
        txn.write(quick)
        with lab.hold(lab.link(txn.coordinator, slow.leader), name=f"hold v{version}"):
            txn.end(commit=True, as_="end")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="while held")
            txn.produce(quick, version=version, retry=(), as_="early write")
            lab.sample(f"held v{version}", slow)
        lab.sample("released", slow)
        txn.produce(quick, version=version, as_="later write")
        txn.end(commit=True, as_="second end")


def check(seen: Evidence) -> Iterator[Observation]:
    """Refused with 51 and without a message, not at once, not appended; and accepted after the release."""
    early, later = seen.all("early write"), seen.all("later write")
    for write, held in zip(early, seen.all("while held"), strict=True):
        sample_ = seen.sample(f"held v{write.version}")
        if sample_.last_stable_offset >= sample_.high_watermark or held.fields.get("state") != "PrepareCommit":
            raise NotSeen("the transaction was not kept in PrepareCommit")
        yield refused(write, CONCURRENT_TRANSACTIONS, otherwise="early-write-accepted")
        yield agree("error message", write.fields.get("error_message"), None, write, otherwise="wrong-message")
        waited, patience = (write.answered or 0.0) - write.sent, float(str(seen.fact("patience_ms") or 0))
        yield unless(waited >= patience / 2, "the broker tried again by itself", write, otherwise="not-retried")
    for step_ in (*seen.all("end"), *later, *seen.all("second end")):
        yield accepted(step_, otherwise="refused-after-release" if step_ in later else "end-refused")
    promised = [value for write in later for value in _values(write)]
    written = [value for value in seen.log("P2").values() if value in promised or "early" in value]
    yield agree("records of these writes", written, promised, *early, otherwise="early-record-appended")
    yield agree("committed values", seen.log("P2").committed, seen.log("P2").values(), otherwise="commit-not-shown")
    for alias in ("P1", "P2"):
        yield agree("LSO", seen.log(alias).last_stable_offset, seen.log(alias).high_watermark, otherwise="stuck-lso")


def _values(write: Step) -> list[Json]:
    values = write.request["values"]
    return values if isinstance(values, list) else []


GOOD = evidence(
    step("end", "EndTxn", 5),
    step("while held", "DescribeTransactions", 0, state="PrepareCommit"),
    step("early write", "Produce", 12, error=51, answered=110.0, error_message=None),
    step("later write", "Produce", 12, request={"values": ["later"]}),
    step("second end", "EndTxn", 5),
    logs={
        "P1": log(data(7, 0, "a"), commit(7, 1)),
        "P2": log(data(7, 0, "b"), commit(7, 1), data(7, 1, "later"), commit(7, 2)),
    },
    samples=(sample("held v12", "P1", 1, 0),),
    faults=(held_link("hold v12"),),
    patience_ms="100",
)
APPENDED = log(data(7, 0, "b"), commit(7, 1), data(7, 1, "early", "later"), commit(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-IMPL-06",
    level=Level.MUST,
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="While the previous transaction completes, a new client's write gets CONCURRENT_TRANSACTIONS.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("early-write-accepted", GOOD.with_step("early write", error=0)),
        Refusal("wrong-error", GOOD.with_step("early write", error=19)),
        Refusal("wrong-message", GOOD.with_step("early write", error_message="CONCURRENT_TRANSACTIONS")),
        Refusal("not-retried", GOOD.with_step("early write", answered=5.0)),
        Refusal("end-refused", GOOD.with_step("second end", error=48)),
        Refusal("refused-after-release", GOOD.with_step("later write", error=51)),
        Refusal("early-record-appended", GOOD.with_log("P2", APPENDED)),
        Refusal("commit-not-shown", GOOD.with_log("P2", committed=("b",))),
        Refusal("stuck-lso", GOOD.with_log("P1", last_stable_offset=0)),
    ),
    refuted_by=(
        Failpoint(rules=NO_RETRY_OF_ADDS, anomaly="not-retried"),
        Failpoint(rules=NEWEST_CLIENT_TAKEN_FOR_OLD, anomaly="wrong-error"),
    ),
    order=Order.HOLDS_LINKS,
)
