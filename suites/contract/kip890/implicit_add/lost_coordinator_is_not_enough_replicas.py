"""KIP890-IMPL-07: a new client's write whose add gets no answer is refused with NOT_ENOUGH_REPLICAS, and says why.

Case (b) of the catalogue, a coordinator that does not answer: the link from the leader to the coordinator is held, then
cut, so that the leader gives up at once instead of after its 30 s. Not tried: no leader of the coordinator's partition
(a) takes three killed brokers, loading (c) lasts milliseconds, and a stale leader (d) is one whose link to the
controller is cut, which the controller fences after two seconds; the same lines of the broker translate all four.
Takes a second a version: the leader copies the coordinator's log over the same link, and pauses that long after a cut.
"""

from collections.abc import Iterator

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
)
from harness.contract.byteman.verification_rules import LOST_COORDINATOR_IS_A_YES, LOST_COORDINATOR_IS_UNKNOWN
from harness.contract.doctored import commit, data, evidence, held_link, log, sample, step
from harness.evidence.requirement_evidence import Evidence, NotSeen
from harness.lab import Lab

NOT_ENOUGH_REPLICAS = 19
WHY = "Unable to verify the partition has been added to the transaction. Underlying error: NETWORK_EXCEPTION"


def stimulus(lab: Lab) -> None:
    """A write while its add lies on the link; the link is cut, mended, and the write repeated."""
    for version in lab.offered("Produce", (12, 13)):
        partition, txn = lab.partition(f"P{version}"), lab.producer(protocol=2)
        txn.write(partition)
        txn.end(commit=True)
        lab.reached(txn, "CompleteCommit", as_="warm")
        link = lab.link(partition.leader, txn.coordinator)
        with lab.hold(link, name=f"hold v{version}"):
            write = txn.start_produce(partition, version=version, values=("lost",))
            lab.sample(f"held v{version}", partition)
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="while held")
            with lab.cut(link, name=f"cut v{version}"):
                write.answer(as_="lost write")
        lab.sample("mended", partition)
        txn.produce(partition, version=version, as_="later write")
        txn.end(commit=True, as_="commit")


def check(seen: Evidence) -> Iterator[Observation]:
    """Refused with 19 and the reason, nothing appended, and the write succeeds when all is mended."""
    for lost, later, end in zip(seen.all("lost write"), seen.all("later write"), seen.all("commit"), strict=True):
        alias, window = f"P{lost.version}", seen.fault(f"cut v{lost.version}")
        if lost.sent > window.started or any(kept.fields.get("partitions") for kept in seen.all("while held")):
            raise NotSeen("the add was not held back")
        yield refused(lost, NOT_ENOUGH_REPLICAS, otherwise="unadded-write-accepted", message=WHY)
        held, log_ = seen.sample(f"held v{lost.version}"), seen.log(alias)
        yield agree(
            "LSO while held", held.last_stable_offset, held.high_watermark, lost, otherwise="appended-before-add"
        )
        yield agree("'lost' in the log", "lost" in log_.values(), False, lost, otherwise="lost-record-appended")
        yield accepted(later, otherwise="refused-after-mending")
        yield accepted(end, otherwise="commit-refused")
        yield agree("committed values", log_.committed, log_.values(), later, end, otherwise="commit-not-shown")
        yield agree("LSO", log_.last_stable_offset, log_.high_watermark, end, otherwise="stuck-lso")


GOOD = evidence(
    step("lost write", "Produce", 12, error=19, held=50, error_message=WHY),
    step("while held", "DescribeTransactions", 0, state="CompleteCommit", partitions=[]),
    step("later write", "Produce", 12),
    step("commit", "EndTxn", 5),
    logs={"P12": log(data(7, 0, "a"), commit(7, 1), data(7, 1, "later"), commit(7, 2))},
    samples=(sample("held v12", "P12", 2, 2),),
    faults=(held_link("hold v12"), held_link("cut v12", started=30.0)),
)
APPENDED = log(data(7, 0, "a"), commit(7, 1), data(7, 1, "lost"), data(7, 1, "later"), commit(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-IMPL-07",
    level=Level.MUST,
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="A new client's write whose coordinator cannot be reached is refused with NOT_ENOUGH_REPLICAS.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("lost write", error=0)),
        Refusal("unanswered", GOOD.with_step("lost write", error=None)),
        Refusal("wrong-error", GOOD.with_step("lost write", error=13)),
        Refusal("wrong-message", GOOD.with_step("lost write", error_message=None)),
        Refusal("appended-before-add", GOOD.with_sample("held v12", high_watermark=3)),
        Refusal("lost-record-appended", GOOD.with_log("P12", APPENDED)),
        Refusal("refused-after-mending", GOOD.with_step("later write", error=19)),
        Refusal("commit-refused", GOOD.with_step("commit", error=48)),
        Refusal("commit-not-shown", GOOD.with_log("P12", committed=("a",))),
        Refusal("stuck-lso", GOOD.with_log("P12", last_stable_offset=2)),
    ),
    refuted_by=(
        Failpoint(rules=LOST_COORDINATOR_IS_A_YES, anomaly="unadded-write-accepted"),
        Failpoint(rules=LOST_COORDINATOR_IS_UNKNOWN, anomaly="wrong-error"),
    ),
    order=Order.HOLDS_LINKS,
)
