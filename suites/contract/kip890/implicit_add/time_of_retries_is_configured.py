"""KIP890-CFG-04: how long a leader tries an implicit add again by itself is a static setting of each broker.

The markers of a transaction are held, so the coordinator refuses the next add as concurrent for as long as that. Each
of three leaders is asked in this time; one may not try again, one for two seconds, one as it does by default. Neither
the retries nor ``add.partitions.to.txn.retry.backoff.max.ms`` are in the KIP, so this is a SHOULD. An upper bound of a
time is judged against the longest wait alone, because machines may be slow.
"""

from dataclasses import replace

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    OwnCluster,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.verification_rules import NO_PATIENCE_IS_THE_MOST, NO_RETRY_OF_ADDS
from harness.contract.doctored import commit, data, ended, evidence, log, refused_write, sample, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

KEY = "add.partitions.to.txn.retry.backoff.max.ms"
AT_ONCE, PATIENT, DEFAULT = 1, 2, 3
PATIENCE_MS = 2_000
CONCURRENT = KafkaError.CONCURRENT_TRANSACTIONS
BY_LEADER = {AT_ONCE: "write at once", PATIENT: "patient write", DEFAULT: "default write"}
CONFIGURED = OwnCluster(node_properties={AT_ONCE: {KEY: "0"}, PATIENT: {KEY: str(PATIENCE_MS)}})


def stimulus(lab: Lab) -> None:
    """Commit with the markers held, then a write to a partition of each leader; after the release, once more."""
    slow = lab.partition("P0", leader=AT_ONCE)
    places = {leader: lab.partition(f"P{leader}", leader=leader) for leader in BY_LEADER}
    txn = lab.producer(protocol=2, coordinator=DEFAULT)
    txn.produce(slow, as_="first write")
    with lab.preparing(txn, slow, commit=True, name="held"):
        for leader, name in BY_LEADER.items():
            txn.produce(places[leader], retry=(), as_=name)
    for place in places.values():
        txn.produce(place, as_="later write")
    txn.end(commit=True, as_="second end")


def check(seen: Evidence) -> Observations:
    """All are refused as concurrent; the patient leader after its time, the other two sooner."""
    expect.prepared(seen, "held", end=seen["end"])
    for name in BY_LEADER.values():
        yield expect.refused(seen[name], CONCURRENT, otherwise="early-write-accepted")
    patient = _waited(seen[BY_LEADER[PATIENT]])
    half = f"the patient leader answered after {patient:.0f} ms, at least half of {PATIENCE_MS} ms"
    yield expect.unless(patient >= PATIENCE_MS / 2, half, otherwise="configured-time-not-used")
    for leader in (AT_ONCE, DEFAULT):
        waited = _waited(seen[BY_LEADER[leader]])
        sooner = f"{BY_LEADER[leader]}: answered after {waited:.0f} ms, sooner than {patient:.0f} ms"
        yield expect.unless(waited < patient, sooner, otherwise="one-time-for-all")
    for asked in (*seen.all("later write"), seen["end"], seen["second end"]):
        yield expect.accepted(asked, otherwise="refused-after-release")
    for leader in BY_LEADER:
        values = [value for write in expect.writes(seen, f"P{leader}", "later write") for value in write.written()]
        yield from expect.sound(seen, f"P{leader}", values)
    yield from expect.sound(seen, "P0", seen["first write"].written())


def _waited(step: Step) -> float:
    return (step.answered or step.sent) - step.sent


def _early(leader: int, answered: float) -> Step:
    return replace(refused_write(BY_LEADER[leader], 12, CONCURRENT, to=f"P{leader}"), answered=answered)


GOOD = evidence(
    written("first write", 12, "z", to="P0"),
    ended(),
    _early(AT_ONCE, 5.0),
    _early(PATIENT, 2_010.0),
    _early(DEFAULT, 110.0),
    *(written("later write", 12, f"{leader}", to=f"P{leader}") for leader in BY_LEADER),
    ended("second end", epoch=1),
    held=("held",),
    samples=(sample("held", "P0", 1, 0),),
    logs={
        "P0": log(data(7, 0, "z"), commit(7, 1)),
        **{f"P{leader}": log(data(7, 1, f"{leader}"), commit(7, 2)) for leader in BY_LEADER},
    },
)

REQUIREMENT = Requirement(
    id="KIP890-CFG-04",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="The time for which a leader tries an implicit add again is configured at each broker.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    level=Level.SHOULD,
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
    cluster=CONFIGURED,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("early-write-accepted", GOOD.with_step(name, error=0)) for name in BY_LEADER.values()),
        Refusal("wrong-error", GOOD.with_step("default write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("default write", error=None)),
        Refusal("configured-time-not-used", GOOD.with_step("patient write", answered=120.0)),
        Refusal("one-time-for-all", GOOD.with_step("default write", answered=2_020.0)),
        *(
            Refusal("refused-after-release", GOOD.with_step(name, error=CONCURRENT))
            for name in ("later write", "end", "second end")
        ),
        *(refusal for leader in BY_LEADER for refusal in unsound(GOOD, f"P{leader}")),
        *unsound(GOOD, "P0"),
    ),
    refuted_by=(
        Failpoint(rules=NO_RETRY_OF_ADDS, anomaly="configured-time-not-used"),
        Failpoint(rules=NO_PATIENCE_IS_THE_MOST, anomaly="one-time-for-all"),
        Liar(api="EndTxn", skip=1, instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="refused-after-release"),
    ),
)
