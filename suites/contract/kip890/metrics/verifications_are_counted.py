"""KIP890-MET-01: a leader's histogram VerificationTimeMs counts each verification and each add that it asks for.

Three old clients write, each for the first time in its transaction, then again: only the first writes are verified. The
first writes of new clients, which add their partitions, go the same way and count as well. The KIP promises the metric
of verifications; that adds are counted in it, and one a transaction, is Kafka's.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import NO_TRANSACTION_ONGOING
from harness.contract.byteman.metric_rules import NO_VERIFICATION_COUNTED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import VERIFICATION, Failpoint, Setting
from harness.lab import Lab
from harness.lab.powers.beyond_requests.metrics import Metric

TIMES = Metric("kafka.server:type=AddPartitionsToTxnManager,name=VerificationTimeMs")
CLIENTS = 3
COUNTED = {"first writes": CLIENTS, "next writes": 0, "adds": CLIENTS}


def stimulus(lab: Lab) -> None:
    """First writes and next writes of old clients, first writes of new ones; all to one leader."""
    partition = lab.partition("P1")
    old = [lab.producer() for _ in range(CLIENTS)]
    for txn in old:
        txn.add(partition)
    for name in ("first writes", "next writes"):
        with lab.metrics.counted(name, TIMES, nodes=(partition.leader,), least=COUNTED[name]):
            for txn in old:
                txn.produce(partition, version=11 if lab.offered("Produce", (11,)) else 9, as_=name)
    new = [lab.producer("rival", protocol=2) for _ in range(CLIENTS if lab.offered("Produce", (12,)) else 0)]
    if new:
        with lab.metrics.counted("adds", TIMES, nodes=(partition.leader,), least=CLIENTS):
            for txn in new:
                txn.produce(partition, as_="adds")
    for txn in (*old, *new):
        txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """As many as there were; none for a partition that is known already."""
    for name, promised in COUNTED.items():
        writes = expect.taken(seen, name)
        for write in writes:
            yield expect.accepted(write, otherwise="write-refused")
        if writes:
            anomaly = {"first writes": "verification-not-counted", "adds": "add-not-counted"}.get(name, "write-counted")
            counted = expect.agree(f"counted for {name}", seen.fact(name), promised, *writes, otherwise=anomaly)
            yield counted if name == "first writes" else expect.habit(counted)
    yield from expect.sound(seen)


GOOD = adopted(__file__, "KIP890-MET-01")

REQUIREMENT = Requirement(
    id="KIP890-MET-01",
    source=Source(890, "Metrics"),
    statement="VerificationTimeMs counts every verification and every add that a leader asks its coordinator for.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    order=Order.ALONE,
    access=(Access.METRICS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.without_step("adds")),
    refuses=(
        *(Refusal("write-refused", GOOD.with_step(name, error=48)) for name in COUNTED),
        *(Refusal("verification-not-counted", GOOD.with_fact("first writes", count)) for count in (None, 0, 2)),
        Refusal("write-counted", GOOD.with_fact("next writes", 3)),
        Refusal("add-not-counted", GOOD.with_fact("adds", 0)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Setting(key=VERIFICATION, value="false", anomaly="verification-not-counted"),
        Failpoint(rules=NO_VERIFICATION_COUNTED, anomaly="add-not-counted"),
        Failpoint(rules=NO_TRANSACTION_ONGOING, anomaly="write-counted"),
    ),
)
