"""KIP890-SAFE-01-SPARK: a read_committed stream is never stuck, and delivers exactly what was committed.

The harm that KIP-890 ends, as an application meets it: a late record of an ended transaction opens one that nobody will
end, the last stable offset stays there, and every committed record behind it is invisible for good. Spark itself sees
nothing wrong (it has read up to its ``latestOffset``, which is the last stable offset), so its end offset is held
against the high watermark that the observer read. The transactions end over another lane, because on one broker the end
would lie behind the held writes. All of it is the KIP's.
"""

from dataclasses import replace

from harness.contract import Access, Evidence, NotSeen, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import EVERY_BATCH_WRITTEN_TWICE, LAST_CHARACTER_IS_Z, LATE_WRITES_SHOWN
from harness.contract.byteman.marker_rules import MARKERS_ABORT, MARKERS_COMMIT
from harness.contract.doctored import adopted
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.contract.stream_checks import delivered_once, out_of_reach, reached
from harness.evidence.requirement_evidence import Sample
from harness.evidence.stream_account import as_fact, stream_account
from harness.lab import Lab, Partition, Producer, Unprepared

BOUND = 15.0
"""Seconds that the stream may take to the high watermark; an undisturbed one takes one or two."""

PARTITIONS = ("P1", "P2", "P3")
COMMITTED, ABORTED = "committed write", "aborted write"
LATE = ("late after abort", "late after commit")


def stimulus(lab: Lab) -> None:
    """Committed, aborted and late transactions on three partitions, while Spark reads them with read_committed."""
    one, p1 = lab.producer("victim"), lab.partition("P1")
    two, p2 = lab.producer("victim"), lab.partition("P2", leader=p1.leader)
    p3, rival = lab.partition("P3"), lab.producer("rival")
    lane = one.lane_to(p1.leader)  # where there is none to hold, Spark need not be started
    with lab.committed_reader(p1, p2, p3) as reader:
        write(rival, COMMITTED, p1, p2, p3).end(commit=True)
        reader.catch_up(timeout_seconds=BOUND)
        write(one, ABORTED, p1, p2, p3).end(commit=False)
        write(one, ABORTED, p1)
        write(two, COMMITTED, p2)
        with lab.hold(lane, name="hold") as held:
            late = one.start_produce(p1, version=9), two.start_produce(p2, version=9)
            over_another_lane(lab, one).end(commit=False)
            over_another_lane(lab, two).end(commit=True)
            lab.completed(p1, p2)
            held.release()
            for name, produce in zip(LATE, late, strict=True):
                produce.answer(as_=name)
        write(rival, COMMITTED, p1, p2, p3).end(commit=True)
        reader.catch_up(timeout_seconds=BOUND)
        lab.sample("after reading")
        lab.note("reader", reader.account())


def over_another_lane(lab: Lab, txn: Producer) -> Producer:
    """The same producer on the rival's lane."""
    same = lab.same_id(txn.transactional_id, txn.coordinator, "rival", init=False)
    same.become(txn.producer_id, txn.epoch)
    return same


def write(txn: Producer, name: str, *partitions: Partition) -> Producer:
    """A record on each partition in an open transaction, as steps of that name; :raises Unprepared: when one fails."""
    txn.add(*partitions)
    for partition in partitions:
        if error := txn.produce(partition, as_=name).error:
            raise Unprepared(f"the {name} on {partition.alias} answered {error}")
    return txn


def check(seen: Evidence) -> Observations:
    """On every partition the stream reached the high watermark, and delivered the committed records, each once."""
    for name in LATE:
        expect.struck(seen, seen[name], by="hold")
    for partition in PARTITIONS:
        account = stream_account(seen, partition)
        yield reached(account, last(seen, partition), *expect.writes(seen, partition, *LATE))
        yield from delivered_once(
            account,
            promised=values(seen, partition, COMMITTED),
            never={
                "aborted-record-delivered": values(seen, partition, ABORTED),
                "late-record-delivered": values(seen, partition, *LATE),
            },
            excused=out_of_reach(seen.log(partition), account),
        )


def values(seen: Evidence, partition: str, *names: str) -> set[str]:
    """The values that these steps sent to the partition."""
    return {value for step in expect.writes(seen, partition, *names) for value in step.written()}


def last(seen: Evidence, partition: str) -> Sample:
    """High watermark and last stable offset when the reading was over."""
    for taken in seen.samples:
        if (taken.name, taken.partition) == ("after reading", partition):
            return taken
    raise NotSeen(f"{partition} was not sampled after the reading")


GOOD = adopted(__file__, "KIP890-SAFE-01-SPARK")
READ = {partition: stream_account(GOOD, partition) for partition in PARTITIONS}
FIRST, *REST = READ["P2"].delivered


def delivers(*delivered: str, end: int = READ["P2"].end_offset) -> Evidence:
    """The good evidence, but of P2 the stream delivered this, and ended there."""
    account = replace(READ["P2"], delivered=delivered, end_offset=end)
    return GOOD.with_fact("reader", as_fact({**READ, "P2": account}))


def delivers_stray(name: str) -> Evidence:
    """The stream delivered a record too many, which a step of this name wrote."""
    return delivers(FIRST, *REST, "stray").with_step(name, request={"partitions": ["P2"], "values": ["stray"]})


REQUIREMENT = Requirement(
    id="KIP890-SAFE-01-SPARK",
    source=Source(890, "Motivation"),
    statement="A read_committed stream reaches the high watermark after late records of ended transactions, "
    "and delivers exactly the committed records, each once.",
    needs=(Offers("Produce", 9), Offers("EndTxn", 3)),
    access=(Access.LANES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("stuck-lso", delivers(FIRST, end=2).with_sample("after reading", last_stable_offset=2)),
        Refusal("committed-record-missing", delivers(FIRST)),
        Refusal("duplicate-delivery", delivers(FIRST, FIRST, *REST)),
        Refusal("unknown-record-delivered", delivers(FIRST, *REST, "stray")),
        Refusal("aborted-record-delivered", delivers_stray(ABORTED)),
        *(Refusal("late-record-delivered", delivers_stray(name)) for name in LATE),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="stuck-lso"),
        Setting(key=VERIFICATION, value="false", anomaly="stuck-lso"),
        Failpoint(rules=MARKERS_ABORT, anomaly="committed-record-missing"),
        Failpoint(rules=MARKERS_COMMIT, anomaly="aborted-record-delivered"),
        Failpoint(rules=LAST_CHARACTER_IS_Z, anomaly="unknown-record-delivered"),
        Failpoint(rules=LATE_WRITES_SHOWN, anomaly="late-record-delivered"),
        Failpoint(rules=EVERY_BATCH_WRITTEN_TWICE, anomaly="duplicate-delivery"),
    ),
)
