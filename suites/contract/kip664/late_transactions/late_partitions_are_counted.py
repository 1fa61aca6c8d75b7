"""KIP664-MET-01: a gauge counts the partitions with a transaction that is longer open than any may be.

That is ``transaction.max.timeout.ms``, 15 minutes, and five more. Ages are those of the records' timestamps, which the
client gives, so that partitions hang for an hour at once; each counts once, where it is led, and no more when it is
aborted. One is written again and begins to count anew. The KIP promises the gauge and what it counts; that a follower
does not count, and that the age is that of the last write, is Kafka's.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import EVERY_OPEN_TRANSACTION_LATE, NO_PARTITION_LATE
from harness.contract.byteman.metric_rules import NO_GAUGE_CAN_BE_READ
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.beyond_requests.metrics import Metric
from suites.contract.kip664.hanging_writes import hang, hung, look

LATE = Metric("kafka.server:type=ReplicaManager,name=PartitionsWithLateTransactionsCount", "Value")
MOMENTS = {"two hang": 2, "three hang": 3, "one wrote again": 2, "one is left": 1, "none is left": 0}


def stimulus(lab: Lab) -> None:
    """The gauge, summed over all brokers: before, as three partitions hang and one is written again, as they end."""
    txn, copies = lab.producer(), len(lab.cluster.topology.brokers)
    first, second, third = (lab.partition(alias, replicas=copies) for alias in ("P1", "P2", "P3"))
    _count(lab, "before")
    hang(lab, txn, first, second, minutes=60)
    _count(lab, "two hang")
    hang(lab, txn, third, minutes=60)
    _count(lab, "three hang")
    hang(lab, txn, third)
    _count(lab, "one wrote again")
    look(lab, "hangs", first, second, third)
    for partitions, moment in (((third, second), "one is left"), ((first,), "none is left")):
        for partition in partitions:
            lab.write_marker(partition, producer_id=txn.producer_id, epoch=txn.epoch, commit=False, as_="abort")
        _count(lab, moment)


def _count(lab: Lab, moment: str) -> None:
    late = lab.metrics.total(LATE)
    lab.note(moment, None if late is None else int(late))


def check(seen: Evidence) -> Observations:
    """So many more than before; the one that was written again does not count until it is late again."""
    hung(seen, "P1", "P2", "P3")
    before = seen.fact("before")
    yield expect.unless(isinstance(before, int), "brokers keep the gauge", otherwise="metric-missing")
    for abort in seen.all("abort"):
        yield expect.accepted(abort, otherwise="abort-refused")
    for moment, more in MOMENTS.items():
        now = seen.fact(moment)
        if isinstance(now, int) and isinstance(before, int):
            anomaly = "wrong-count" if moment != "one wrote again" else "recent-write-counted"
            counted = expect.agree(f"late partitions when {moment}", now - before, more, otherwise=anomaly)
            yield expect.habit(counted) if moment == "one wrote again" else counted
    for alias in ("P1", "P2", "P3"):
        yield from expect.sound(seen, alias, committed=())


GOOD = adopted(__file__, "KIP664-MET-01")


def _counts(*counts: int) -> Evidence:
    good = GOOD
    for moment, count in zip(("before", *MOMENTS), counts, strict=True):
        good = good.with_fact(moment, count)
    return good


REQUIREMENT = Requirement(
    id="KIP664-MET-01",
    source=Source(664, "Detection"),
    statement="PartitionsWithLateTransactionsCount counts partitions with a transaction that is too long open.",
    needs=(Offers("WriteTxnMarkers", 1), Offers("ListTransactions", 0)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.METRICS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(_counts(4, 6, 7, 6, 5, 4),),
    refuses=(
        Refusal("metric-missing", GOOD.with_fact("before", None)),
        Refusal("abort-refused", GOOD.with_step("abort", error=31)),
        Refusal("wrong-count", _counts(4, 4, 7, 6, 5, 4)),
        Refusal("wrong-count", _counts(0, 6, 9, 2, 1, 0)),
        Refusal("wrong-count", _counts(4, 6, 7, 6, 5, 5)),
        Refusal("recent-write-counted", _counts(4, 6, 7, 7, 5, 4)),
        *unsound(GOOD, "P3", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=NO_PARTITION_LATE, anomaly="wrong-count"),
        Failpoint(rules=EVERY_OPEN_TRANSACTION_LATE, anomaly="recent-write-counted"),
        Failpoint(rules=NO_GAUGE_CAN_BE_READ, anomaly="metric-missing"),
    ),
)
