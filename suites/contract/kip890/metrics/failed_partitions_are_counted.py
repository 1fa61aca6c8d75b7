"""KIP890-MET-02: a leader's meter VerificationFailureRate counts each partition whose verification failed.

One request has batches for three partitions that were never added, another for one that was and two that were not, and
a third is right. The KIP promises the rate of failures; that it counts partitions and not requests is Kafka's.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.metric_rules import NO_FAILURE_COUNTED, SUCCESS_COUNTED_AS_FAILURE
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab
from harness.lab.powers.beyond_requests.metrics import Metric

FAILURES = Metric("kafka.server:type=AddPartitionsToTxnManager,name=VerificationFailureRate")
ALIASES = ("P1", "P2", "P3")
COUNTED = {"none added": 3, "one added": 2, "all added": 0}


def stimulus(lab: Lab) -> None:
    """Three requests of one producer to three partitions of one leader."""
    txn, first = lab.producer(), lab.partition(ALIASES[0])
    partitions = (first, *(lab.partition(alias, leader=first.leader) for alias in ALIASES[1:]))
    version = 11 if lab.offered("Produce", (11,)) else 9
    for name, added in zip(COUNTED, ((), partitions[:1], partitions[1:]), strict=True):
        if added:
            txn.add(*added)
        with lab.metrics.counted(name, FAILURES, nodes=(first.leader,), least=COUNTED[name]):
            txn.produce(*partitions, version=version, as_=name, retry=())
    txn.end(commit=False)


def check(seen: Evidence) -> Observations:
    """As many as there were unadded partitions that were refused."""
    for name, promised in COUNTED.items():
        write = seen[name]
        parts = write.fields.get("partitions")
        refused = [part for part in (parts.values() if isinstance(parts, dict) else ()) if isinstance(part, dict)]
        if sum(part.get("error") != 0 for part in refused) != promised:
            raise NotSeen(f"{name}: not {promised} partitions were refused")
        kept = seen.fact(name)
        counted = kept == promised if promised == 0 else kept not in (None, 0)
        anomaly = "failure-not-counted" if promised else "success-counted"
        yield expect.unless(counted, f"{name}: {kept} failures are counted", write, otherwise=anomaly)
        if counted:
            exact = expect.agree(f"failures of {name}", kept, promised, write, otherwise="wrong-count")
            yield expect.habit(exact)
    for alias in ALIASES:
        yield from expect.sound(seen, alias, committed=())


GOOD = adopted(__file__, "KIP890-MET-02")

REQUIREMENT = Requirement(
    id="KIP890-MET-02",
    source=Source(890, "Metrics"),
    statement="VerificationFailureRate counts every partition whose verification failed, and no other.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    order=Order.ALONE,
    access=(Access.METRICS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("failure-not-counted", GOOD.with_fact("none added", count)) for count in (None, 0)),
        Refusal("success-counted", GOOD.with_fact("all added", 1)),
        Refusal("wrong-count", GOOD.with_fact("one added", 3)),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=NO_FAILURE_COUNTED, anomaly="failure-not-counted"),
        Failpoint(rules=SUCCESS_COUNTED_AS_FAILURE, anomaly="success-counted"),
    ),
)
