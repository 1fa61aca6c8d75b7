"""KIP664-MET-02: a transaction that may still end by itself does not count as late, and is given five minutes more.

Ages are those of the records' timestamps: 14 minutes, within the longest timeout of 15, and 19, within the five minutes
that the KIP adds "to account for some extra latency". A third of 21 minutes counts, so that the gauge is seen to work.
All three are live: their coordinator knows them and will end them.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import (
    EVERY_OPEN_TRANSACTION_LATE,
    LATE_ONCE_IS_LATE_FOR_EVER,
    NO_PADDING_OF_AGES,
    NO_PARTITION_LATE,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab
from harness.lab.powers.beyond_requests.metrics import Metric

LATE = Metric("kafka.server:type=ReplicaManager,name=PartitionsWithLateTransactionsCount", "Value")
MINUTES = {"P1": 14, "P2": 19, "P3": 21}
LONGEST = "transaction.max.timeout.ms"


def stimulus(lab: Lab) -> None:
    """The gauge before and after each of the three, and the longest timeout that brokers allow."""
    lab.note("before", _count(lab))
    for alias, minutes in MINUTES.items():
        txn, partition = lab.producer(timeout_ms=14 * 60_000), lab.partition(alias)
        txn.add(partition)
        txn.produce(partition, timestamp_ms=lab.minutes_ago(minutes), as_="write")
        lab.sample(alias, partition)
        lab.note(alias, _count(lab))
    lab.note(LONGEST, lab.admin.config(lab.cluster.topology.brokers[0], LONGEST))
    for txn in lab.producers:
        txn.end(commit=True)
    lab.completed()
    lab.note("after", _count(lab))


def _count(lab: Lab) -> int | None:
    late = lab.metrics.total(LATE)
    return None if late is None else int(late)


def check(seen: Evidence) -> Observations:
    """Nothing is added by what is 14 or 19 minutes old, and one by what is 21; none is left."""
    if seen.fact(LONGEST) != "900000":
        raise NotSeen(f"{LONGEST} is {seen.fact(LONGEST)}")
    for alias in MINUTES:
        if seen.sample(alias).last_stable_offset >= seen.sample(alias).high_watermark:
            raise NotSeen(f"nothing is open on {alias}")
    before = seen.fact("before")
    yield expect.unless(isinstance(before, int), "brokers keep the gauge", otherwise="metric-missing")
    promised = {"P1": (0, "timely-counted"), "P2": (0, "padding-missing"), "P3": (1, "late-not-counted")}
    for moment, (more, anomaly) in {**promised, "after": (0, "ended-counted")}.items():
        now = seen.fact(moment)
        if isinstance(now, int) and isinstance(before, int):
            yield expect.agree(f"late partitions with {moment}", now - before, more, otherwise=anomaly)
    for alias in MINUTES:
        yield from expect.sound(seen, alias)


GOOD = adopted(__file__, "KIP664-MET-02")

REQUIREMENT = Requirement(
    id="KIP664-MET-02",
    source=Source(664, "Detection"),
    statement="A transaction within the longest timeout and five minutes more is not counted as late.",
    needs=(Offers("ListTransactions", 0),),
    order=Order.ALONE,
    access=(Access.METRICS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("metric-missing", GOOD.with_fact("before", None)),
        Refusal("timely-counted", GOOD.with_fact("P1", 1)),
        Refusal("padding-missing", GOOD.with_fact("P2", 1)),
        Refusal("late-not-counted", GOOD.with_fact("P3", 0)),
        Refusal("ended-counted", GOOD.with_fact("after", 1)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=EVERY_OPEN_TRANSACTION_LATE, anomaly="timely-counted"),
        Failpoint(rules=NO_PADDING_OF_AGES, anomaly="padding-missing"),
        Failpoint(rules=NO_PARTITION_LATE, anomaly="late-not-counted"),
        Failpoint(rules=LATE_ONCE_IS_LATE_FOR_EVER, anomaly="ended-counted"),
    ),
)
