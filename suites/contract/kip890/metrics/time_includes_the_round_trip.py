"""KIP890-MET-04: the time of a verification includes the way to the coordinator and back.

What the leader asks the coordinator is held on their link for a moment. A histogram's mean times its count is the sum
of all its times, so the difference of two sums is the time of what lay between. The first write without a hold is
quicker than the one with it. The KIP: "This will include the round trip to the transaction coordinator".
"""

from harness.contract import (
    Access,
    Evidence,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.metric_rules import EVERY_TIME_IS_LONG, NO_TIME_TAKEN
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.beyond_requests.metrics import Metric

NAME = "kafka.server:type=AddPartitionsToTxnManager,name=VerificationTimeMs"
HELD_SECONDS = 0.5


def stimulus(lab: Lab) -> None:
    """The sum of all times before and after a first write, and after another whose verification was held."""
    txn = lab.producer()
    partition = lab.partition("P1", leader=lab.another_broker(txn.coordinator))
    other = lab.producer(coordinator=txn.coordinator)
    for each in (txn, other):
        each.add(partition)
    lab.note("before", _sum(lab, partition.leader))
    txn.produce(partition, version=9, as_="write")
    lab.note("quick", _sum(lab, partition.leader))
    with lab.hold(lab.link(partition.leader, txn.coordinator), name="round trip") as held:
        late = other.start_produce(partition, version=9)
        lab.patience.pause(HELD_SECONDS)
        held.release()
        late.answer(as_="held write")
    lab.note("slow", _sum(lab, partition.leader))
    for each in (txn, other):
        each.end(commit=True)


def _sum(lab: Lab, node: int) -> float:
    """Milliseconds of all verifications of this leader."""
    mean = lab.metrics.value(node, Metric(NAME, "Mean")) or 0.0
    return round(mean * (lab.metrics.value(node, Metric(NAME)) or 0.0), 3)


def check(seen: Evidence) -> Observations:
    """The held verification took at least half of the time that it was held for."""
    hold, held = seen.fault("round trip"), seen["held write"]
    if held.error != 0 or held.sent > hold.ended or held.answered is None or held.answered < hold.ended:
        raise NotSeen("no verification was held")
    before, quick, slow = (_number(seen, name) for name in ("before", "quick", "slow"))
    window = hold.ended - held.sent
    told = f"{slow - quick:.0f} of {window:.0f} ms are counted"
    yield expect.unless(slow - quick >= window / 2, told, held, otherwise="wait-not-counted")
    less = quick - before < window / 2
    yield expect.unless(less, f"{quick - before:.0f} ms without a hold", seen["write"], otherwise="wrong-time")
    yield from expect.sound(seen)


def _number(seen: Evidence, name: str) -> float:
    value = seen.fact(name)
    return float(value) if isinstance(value, int | float) else 0.0


GOOD = adopted(__file__, "KIP890-MET-04")

REQUIREMENT = Requirement(
    id="KIP890-MET-04",
    source=Source(890, "Metrics"),
    statement="VerificationTimeMs includes the round trip to the coordinator.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    order=Order.HOLDS_LINKS,
    access=(Access.METRICS, Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wait-not-counted", GOOD.with_fact("slow", GOOD.fact("quick"))),
        Refusal("wrong-time", GOOD.with_fact("quick", 9_999).with_fact("slow", 19_999)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=NO_TIME_TAKEN, anomaly="wait-not-counted"),
        Failpoint(rules=EVERY_TIME_IS_LONG, anomaly="wrong-time"),
    ),
)
