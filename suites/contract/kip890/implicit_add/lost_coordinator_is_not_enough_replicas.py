"""KIP890-IMPL-07: a new client's write whose add gets no useful answer is refused with an error that it can retry.

A coordinator that does not answer: the link from the leader to the coordinator is held, then cut, so that the leader
gives up at once instead of after its 30 s. One that cannot say, because it is loading, is none any more, or is not
available: its answer is rewritten at the gate on the link. The KIP promises that nothing is written before the add is
stored and that trouble with coordinators is no fatal error; NOT_ENOUGH_REPLICAS, which it has for older clients, and
the message are Kafka's.
Takes a second a version: the leader copies the coordinator's log over the same link, and pauses that long after a cut.
"""

from itertools import product

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
from harness.contract.byteman import verification_rules as rules
from harness.contract.doctored import adopted, data, log, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import unverified_message
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab

RETRIABLE = KafkaError.NOT_ENOUGH_REPLICAS
ALLOWED = tuple(error for error in KafkaError if error.retriable)
TROUBLES = KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_NOT_AVAILABLE
WHY = unverified_message(KafkaError.NETWORK_EXCEPTION)


def stimulus(lab: Lab) -> None:
    """A write while its add lies on the link; the link is cut, mended, and the write repeated."""
    for version in lab.offered("Produce", (12, 13)):
        partition, txn = lab.partition(f"P{version}"), lab.producer(protocol=2)
        link = lab.link(partition.leader, txn.coordinator)
        txn.write(partition)
        txn.end(commit=True)
        lab.completed(partition)
        lab.reached(txn, "CompleteCommit", "Empty", as_="warm")
        with lab.hold(link, name=f"hold v{version}"):
            write = txn.start_produce(partition, version=version, values=("lost",))
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="while held")
            with lab.cut(link, name=f"cut v{version}"):
                write.answer(as_="lost write")
                lab.sample(f"held v{version}", partition)  # whoever was answered has its record in the log by now
        lab.sample("mended", partition)
        txn.produce(partition, version=version, as_="later write")
        txn.end(commit=True, as_="commit")
        for trouble in TROUBLES:
            _trouble(lab, version, trouble)


def _trouble(lab: Lab, version: int, trouble: KafkaError) -> None:
    """A write whose add is answered with the trouble, then repeated and committed."""
    case, txn = f"{trouble.name}-v{version}", lab.producer(protocol=2)
    partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
    link = lab.link(partition.leader, txn.coordinator)
    with lab.gate(link, api="AddPartitionsToTxn", action="rewrite", name=case, error=trouble):
        txn.produce(partition, version=version, values=("lost",), retry=(), as_=case)
    txn.produce(partition, version=version, as_=f"later write of {case}")
    txn.end(commit=True, as_=f"commit of {case}")


def check(seen: Evidence) -> Observations:
    """Refused as retriable with the reason, nothing appended, and the write succeeds when all is mended."""
    for lost, later, end in zip(seen.all("lost write"), seen.all("later write"), seen.all("commit"), strict=True):
        alias, cut = f"P{lost.version}", seen.fault(f"cut v{lost.version}")
        if lost.sent > cut.started or any(kept.fields.get("partitions") for kept in seen.all("while held")):
            raise NotSeen("the add was not held back")
        yield expect.refused(lost, RETRIABLE, otherwise="unadded-write-accepted", also=ALLOWED)
        if lost.error == RETRIABLE:
            yield expect.habit(expect.explained(lost, WHY))
        yield expect.stable(seen.sample(f"held v{lost.version}"), lost, otherwise="appended-before-add")
        absent = "lost" not in seen.log(alias).values()
        yield expect.unless(absent, "the log is without the lost record", lost, otherwise="lost-record-appended")
        yield expect.accepted(later, otherwise="refused-after-mending")
        yield expect.accepted(end, otherwise="commit-refused")
        yield from expect.sound(seen, alias, shown="commit-not-shown")
    for trouble, version in product(TROUBLES, {step.version for step in seen.all("lost write")}):
        case = f"{trouble.name}-v{version}"
        write, again = seen[case], seen[f"later write of {case}"]
        expect.gated(seen, case)
        yield expect.refused(write, RETRIABLE, otherwise="unadded-write-accepted", also=ALLOWED)
        if write.error == RETRIABLE:
            yield expect.habit(expect.explained(write, unverified_message(trouble)))
        for step in (again, seen[f"commit of {case}"]):
            yield expect.accepted(step, otherwise="refused-after-mending")
        yield from expect.sound(seen, case, again.written(), appended="lost-record-appended", shown="commit-not-shown")


GOOD = adopted(__file__, "KIP890-IMPL-07")
_LOADING = f"{KafkaError.COORDINATOR_LOAD_IN_PROGRESS.name}-v12"
_FIRST, _COMMIT, *_LATER = GOOD.log("P12").batches

REQUIREMENT = Requirement(
    id="KIP890-IMPL-07",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="A new client's write whose coordinator cannot be reached is refused as retriable.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("lost write", error=0)),
        Refusal("unanswered", GOOD.with_step("lost write", error=None)),
        Refusal("wrong-error", GOOD.with_step("lost write", error=KafkaError.NETWORK_EXCEPTION)),
        Refusal("wrong-error", GOOD.with_step("lost write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("no-message", GOOD.with_step("lost write", error_message=None)),
        Refusal("wrong-message", GOOD.with_step("lost write", error_message="another text")),
        Refusal("appended-before-add", GOOD.with_sample("held v12", high_watermark=3)),
        Refusal("lost-record-appended", GOOD.with_log("P12", log(_FIRST, _COMMIT, data(7, 1, "lost"), *_LATER))),
        Refusal("refused-after-mending", GOOD.with_step("later write", error=RETRIABLE)),
        Refusal("commit-refused", GOOD.with_step("commit", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, "P12", appended=None, shown="commit-not-shown"),
        Refusal("unadded-write-accepted", GOOD.with_step(_LOADING, error=0)),
        Refusal("wrong-error", GOOD.with_step(_LOADING, error=KafkaError.INVALID_TXN_STATE)),
        Refusal("no-message", GOOD.with_step(_LOADING, error_message=None)),
        Refusal("refused-after-mending", GOOD.with_step(f"commit of {_LOADING}", error=RETRIABLE)),
        *unsound(GOOD, _LOADING, appended="lost-record-appended", shown="commit-not-shown"),
    ),
    refuted_by=(
        Failpoint(rules=rules.LOST_COORDINATOR_IS_A_YES, anomaly="unadded-write-accepted"),
        Failpoint(rules=rules.LOST_COORDINATOR_IS_UNKNOWN, anomaly="wrong-error"),
        Failpoint(rules=rules.coordinator_error_is_a_yes("NOT_COORDINATOR"), anomaly="lost-record-appended"),
        Liar(api="Produce", instead_of=RETRIABLE, fields={"error_message": None}, anomaly="no-message"),
        Failpoint(rules=rules.LATER_ADDS_STAY_WITH_THE_LEADER, anomaly="appended-before-add"),
    ),
)
