"""KIP890-SAFE-01-SPARK: a read_committed stream is never stuck, and delivers exactly what was committed.

The harm that KIP-890 ends, as an application meets it: a late record of an ended transaction opens one that nobody will
end, the last stable offset stays there, and every committed record behind it is invisible for good. Spark itself sees
nothing wrong (it has read up to its ``latestOffset``, which is the last stable offset), so its end offset is held
against the high watermark that the observer read.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from harness.base.json_value import Json
from harness.contract import Level, Observation, Offers, Refusal, Release, Requirement, Setting, Source, struck
from harness.contract.doctored import abort, commit, data, evidence, held_link, log, sample, step
from harness.contract.stream_checks import delivered_once, out_of_reach, reached
from harness.evidence.requirement_evidence import Evidence, NotSeen, Sample, Step
from harness.evidence.stream_account import StreamAccount, as_fact, stream_account
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
        reader.catch_up(within=BOUND)
        write(one, ABORTED, p1, p2, p3).end(commit=False)
        write(one, ABORTED, p1)
        write(two, COMMITTED, p2)
        with lab.hold(lane, name="hold") as held:
            late = one.start_produce(p1, version=9), two.start_produce(p2, version=9)
            one.end(commit=False)
            two.end(commit=True)
            lab.completed(p1, p2)
            held.release()
            for name, produce in zip(LATE, late, strict=True):
                produce.answer(as_=name)
        write(rival, COMMITTED, p1, p2, p3).end(commit=True)
        reader.catch_up(within=BOUND)
        lab.sample("after reading")
        lab.note("reader", reader.account())


def write(txn: Producer, name: str, *partitions: Partition) -> Producer:
    """A record on each partition in an open transaction, as steps of that name; :raises Unprepared: when one fails."""
    txn.add(*partitions)
    for partition in partitions:
        if error := txn.produce(partition, as_=name).error:
            raise Unprepared(f"the {name} on {partition.alias} answered {error}")
    return txn


def check(seen: Evidence) -> Iterator[Observation]:
    """On every partition the stream reached the high watermark, and delivered the committed records, each once."""
    for name in LATE:
        struck(seen, seen[name], by="hold")
    for partition in PARTITIONS:
        account = stream_account(seen, partition)
        yield reached(account, last(seen, partition), *on(partition, seen, *LATE))
        yield from delivered_once(
            account,
            promised=values(on(partition, seen, COMMITTED)),
            never={
                "aborted-record-delivered": values(on(partition, seen, ABORTED)),
                "late-record-delivered": values(on(partition, seen, *LATE)),
            },
            excused=out_of_reach(seen.log(partition), account),
        )


def on(partition: str, seen: Evidence, *names: str) -> list[Step]:
    """The steps of these names that wrote to the partition."""
    steps = chain.from_iterable(map(seen.all, names))
    return [step for step in steps if step.request.get("partitions") == [partition]]


def values(steps: list[Step]) -> set[str]:
    """The values that these steps sent."""
    sent = (step.request.get("values") for step in steps)
    return {str(value) for batch in sent if isinstance(batch, list) for value in batch}


def last(seen: Evidence, partition: str) -> Sample:
    """High watermark and last stable offset when the reading was over."""
    for taken in seen.samples:
        if (taken.name, taken.partition) == ("after reading", partition):
            return taken
    raise NotSeen(f"{partition} was not sampled after the reading")


def wrote(name: str, partition: str, value: str, *, error: int = 0, held: float = 0.0) -> Step:
    """A produce by hand."""
    request: dict[str, Json] = {"partitions": [partition], "values": [value]}
    return step(name, "Produce", 9, error=error, held=held, request=request)


def told(end: int, *delivered: str, wanted: int | None = None) -> StreamAccount:
    """A reader's account by hand."""
    high_watermark = end if wanted is None else wanted
    reached_ms = 900.0 if end == high_watermark else None
    return StreamAccount(
        end_offset=end, wanted=high_watermark, reached_ms=reached_ms, micro_batches=3, delivered=delivered
    )


P1 = log(data(7, 0, "a1"), commit(7, 0), data(8, 0, "x1"), abort(8, 0), data(7, 0, "b1"), commit(7, 0))
P2 = log(data(7, 0, "a2"), commit(7, 0), data(9, 0, "w2"), commit(9, 0), data(7, 0, "b2"), commit(7, 0))
P3 = log(data(7, 0, "a3"), commit(7, 0), data(8, 0, "x3"), abort(8, 0), data(7, 0, "b3"), commit(7, 0))
STUCK = log(
    data(7, 0, "a1"), commit(7, 0), data(8, 0, "x1"), abort(8, 0), data(8, 0, "l1", sequence=1), data(7, 0, "b1")
)
READ = {"P1": told(6, "a1", "b1"), "P2": told(6, "a2", "w2", "b2"), "P3": told(6, "a3", "b3")}

GOOD = evidence(
    *(wrote(COMMITTED, "P" + value[1], value) for value in ("a1", "a2", "a3", "w2", "b1", "b2", "b3")),
    *(wrote(ABORTED, "P" + value[1], value) for value in ("x1", "x3")),
    *(wrote(name, "P" + value[1], value, error=48, held=20) for name, value in zip(LATE, ("l1", "l2"), strict=True)),
    logs={"P1": P1, "P2": P2, "P3": P3},
    faults=(held_link("hold"),),
    samples=tuple(sample("after reading", partition, 6, 6) for partition in PARTITIONS),
    reader=as_fact(READ),
)


def read(**accounts: StreamAccount) -> Evidence:
    """The good evidence with another account of a partition."""
    return GOOD.with_fact("reader", as_fact({**READ, **accounts}))


HUNG = replace(
    read(P1=told(4, "a1", wanted=6)).with_log("P1", STUCK),
    samples=(sample("after reading", "P1", 7, 4), *GOOD.samples[1:]),
)

REQUIREMENT = Requirement(
    id="KIP890-SAFE-01-SPARK",
    level=Level.MUST,
    source=Source(890, "Motivation"),
    statement="A read_committed stream reaches the high watermark after late records of ended transactions, "
    "and delivers exactly the committed records, each once.",
    needs=(Offers("Produce", 9), Offers("EndTxn", 3)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("stuck-lso", HUNG),
        Refusal("committed-record-missing", read(P1=told(6, "a1"))),
        Refusal("duplicate-delivery", read(P2=told(6, "a2", "w2", "w2", "b2"))),
        Refusal("aborted-record-delivered", read(P3=told(6, "a3", "x3", "b3"))),
        Refusal("late-record-delivered", read(P2=told(6, "a2", "w2", "l2", "b2"))),
        Refusal("unknown-record-delivered", read(P3=told(6, "a3", "who", "b3"))),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="stuck-lso"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="stuck-lso"),
    ),
)
