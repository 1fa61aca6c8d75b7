"""KIP360-RET-05: a leader that restarted, in good order or not, or that took over, still knows a producer's sequences.

Without them a repeated batch would be a duplicate in the log and a lost one a gap. Brokers keep them in snapshots and
build them from the log. A gap is refused at the end, so that a leader that forgot everything, and takes any sequence,
is seen. What the KIP adds is that the state lasts as long as the producer does; that it survives is idempotence itself.
"""

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
from harness.contract.byteman.leader_rules import NO_DUPLICATE_FOUND, NO_SEQUENCE_CHECK
from harness.contract.doctored import data, evidence, log, refused_write, unsound, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab
from harness.lab.partition import Partition
from harness.lab.powers.idempotent_producer import IdempotentProducer

GAP = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
PLACES = ("stopped", "killed", "moved")


def stimulus(lab: Lab) -> None:
    """Three partitions of one leader, which is restarted twice; the third one moves."""
    stopped = lab.partition("stopped")
    killed = lab.partition("killed", leader=stopped.leader)
    moved = lab.partition("moved", leader=stopped.leader, replicas=3)
    plain = lab.idempotent()
    for partition in (stopped, killed, moved):
        for first in range(0, 10, 2):
            values = (f"{partition.alias} {first}", f"{partition.alias} {first + 1}")
            plain.produce(partition, sequence=first, values=values, as_=f"{partition.alias} write")
    lab.nodes.restart(stopped.leader, clean=True, name="stopped")
    go_on(plain, stopped)
    lab.nodes.restart(killed.leader, clean=False, name="killed")
    go_on(plain, killed)
    with lab.moves.leader(moved, name="moved") as elsewhere:
        go_on(plain, elsewhere)


def go_on(plain: IdempotentProducer, partition: Partition) -> None:
    """The last batch again, the next one, and one after a gap."""
    name = partition.alias
    plain.produce(partition, sequence=8, values=(f"{name} 8", f"{name} 9"), as_=f"{name} again")
    plain.produce(partition, sequence=10, values=(f"{name} 10",), as_=f"{name} next", retry=())
    plain.produce(partition, sequence=12, values=(f"{name} 12",), as_=f"{name} gap", retry=())


def check(seen: Evidence) -> Observations:
    """The repetition gets the first one's offset and is not appended, the next one is, and the gap is refused."""
    for name in PLACES:
        seen.fault(name)
        *_, last = first = seen.all(f"{name} write")
        again, after, gap = seen[f"{name} again"], seen[f"{name} next"], seen[f"{name} gap"]
        for write in (*first, after):
            yield expect.accepted(write, otherwise="write-refused")
        yield expect.accepted(again, otherwise="repetition-refused")
        if again.error == 0:
            yield expect.shows(again, base_offset=last.fields.get("base_offset"), otherwise="repetition-appended")
        yield expect.refused(gap, GAP, otherwise="gap-accepted")
        values = [value for write in (*first, after) for value in write.written()]
        yield from expect.sound(seen, name, values)


GOOD = evidence(
    *(written(f"{name} write", 9, "a", to=name) for name in PLACES),
    *(written(f"{name} again", 9, "a", to=name) for name in PLACES),
    *(written(f"{name} next", 9, "b", to=name, base_offset=1) for name in PLACES),
    *(refused_write(f"{name} gap", 9, GAP, "c", to=name) for name in PLACES),
    faults=tuple(Fault(name=name, kind="kill", where="broker-1", started=0, ended=1) for name in PLACES),
    logs={
        name: log(data(7, 0, "a", transactional=False), data(7, 0, "b", sequence=1, transactional=False))
        for name in PLACES
    },
)

REQUIREMENT = Requirement(
    id="KIP360-RET-05",
    source=Source(360, "Proposed Changes: prolonged producer state retention"),
    statement="What a leader knows of a producer survives restarts, clean or not, and a change of the leader.",
    needs=(Offers("Produce", 9),),
    order=Order.HURTS_CLUSTER,
    access=(Access.NODES, Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("write-refused", GOOD.with_step("moved write", error=KafkaError.NOT_ENOUGH_REPLICAS)),
        *(Refusal("write-refused", GOOD.with_step(f"{name} next", error=GAP)) for name in PLACES),
        *(Refusal("repetition-refused", GOOD.with_step(f"{name} again", error=GAP)) for name in PLACES),
        *(Refusal("repetition-appended", GOOD.with_step(f"{name} again", base_offset=1)) for name in PLACES),
        *(Refusal("gap-accepted", GOOD.with_step(f"{name} gap", error=0)) for name in PLACES),
        Refusal("wrong-error", GOOD.with_step("killed gap", error=KafkaError.UNKNOWN_PRODUCER_ID)),
        Refusal("unanswered", GOOD.with_step("killed gap", error=None)),
        *unsound(GOOD, "killed"),
    ),
    refuted_by=(
        Failpoint(rules=NO_DUPLICATE_FOUND, anomaly="repetition-refused"),
        Failpoint(rules=NO_SEQUENCE_CHECK, anomaly="gap-accepted"),
    ),
)
