"""KIP890-MET-03: a verification that fails because nobody coordinates the id counts like any other.

The KIP's words of the time metric: "This will also account for verifications that fail before the coordinator is
called", and of the rate: "or through errors in the manager". The id's partition of ``__transaction_state`` has one
replica, and that broker is killed. A failed verification with the coordinator there shows before that both count.
"""

from typing import Any

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.doctored import commit, data, evidence, log, refused_write, unsound
from harness.contract.refuters import Release
from harness.evidence.requirement_evidence import Fault, NotSeen
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.beyond_requests.metrics import Metric
from suites.contract.wishes import SOLE_COORDINATORS

_MANAGER = "kafka.server:type=AddPartitionsToTxnManager,name="
TIMES, FAILURES = Metric(f"{_MANAGER}VerificationTimeMs"), Metric(f"{_MANAGER}VerificationFailureRate")


def stimulus(lab: Lab) -> None:
    """A write that was never added, then the same of an id whose coordinator is gone."""
    partition, txn = lab.partition("P1"), lab.producer("victim")
    lab.another_broker(partition.leader)
    _refused(lab, txn, partition, "coordinated", least=1)
    txn.add(partition)
    with lab.nodes.killed(txn.coordinator, name="killed"):
        lab.nodes.await_fenced(txn.coordinator)
        _refused(lab, txn, partition, "alone", least=0)
    txn.produce(partition, as_="write again")
    txn.end(commit=True)


def _refused(lab: Lab, txn: Producer, partition: Partition, name: str, *, least: int) -> None:
    at = (partition.leader,)
    times = lab.metrics.counted(f"{name}: times", TIMES, nodes=at, least=least)
    with times, lab.metrics.counted(f"{name}: failures", FAILURES, nodes=at, least=least):
        txn.produce(partition, version=9, as_=name, retry=())


def check(seen: Evidence) -> Observations:
    """Both metrics count it, as they count one that the coordinator refused."""
    killed, alone = seen.fault("killed"), seen["alone"]
    if alone.sent > killed.ended or not alone.error or not seen["coordinated"].error:
        raise NotSeen("no verification failed without a coordinator")
    if seen.fact("coordinated: times") != 1 or seen.fact("coordinated: failures") != 1:
        raise NotSeen("a verification that the coordinator refused is not counted (KIP890-MET-01, -02)")
    for name, anomaly in (("times", "time-not-counted"), ("failures", "failure-not-counted")):
        yield expect.agree(f"counted {name}", seen.fact(f"alone: {name}"), 1, alone, otherwise=anomaly)
    yield from expect.sound(seen)


_FACTS: dict[str, Any] = {f"{name}: {what}": 1 for name in ("coordinated", "alone") for what in ("times", "failures")}
GOOD = evidence(
    refused_write("coordinated", 9, 48),
    refused_write("alone", 9, 19),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
    faults=(Fault(name="killed", kind="kill", where="broker-1", started=0.0, ended=50.0),),
    **_FACTS,
)

REQUIREMENT = Requirement(
    id="KIP890-MET-03",
    source=Source(890, "Metrics"),
    statement="A verification that fails before the coordinator is called counts in both metrics.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    order=Order.HURTS_CLUSTER,
    access=(Access.METRICS, Access.NODES, Access.BROKERS),
    cluster=SOLE_COORDINATORS,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("time-not-counted", GOOD.with_fact("alone: times", 0)),
        Refusal("failure-not-counted", GOOD.with_fact("alone: failures", 0)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="time-not-counted"),
        Release(version="3.9.2", anomaly="failure-not-counted"),
    ),
)
