"""KIP360-RET-04: a leader that knows nothing of a producer takes its next write instead of failing it.

The records are deleted and the partition is copied to another broker, which therefore has nothing to learn of the
producers from; their state was on the old leader alone. The KIP's: «disagreement between the replicas» must not be
fatal for a producer. It allows a rare UNKNOWN_PRODUCER_ID there, after which a producer bumps its epoch and goes on;
that brokers since 2.5 take the write instead is Kafka's.
"""

from dataclasses import replace

from harness.base.json_value import Json
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import GAP_REFUSED_OF_EVERYBODY
from harness.contract.doctored import commit, data, ended, evidence, log, producers, unsound, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab

BEFORE = 3
"""Records of each producer before the move: the next one's sequence."""


def stimulus(lab: Lab) -> None:
    """Written to by a transactional and an idempotent producer, emptied, copied, and written to by both again."""
    for version in lab.offered("Produce", (9, 11)):
        partition, txn, plain = lab.partition(f"P{version}"), lab.producer(protocol=1), lab.idempotent()
        for _ in range(BEFORE):
            txn.write(partition)
            plain.produce(partition)
        txn.end(commit=True)
        lab.completed(partition)
        emptied = lab.delete_records(partition, as_="emptied")
        elsewhere, start = lab.another_broker(partition.leader), emptied.answer_int("low_watermark")
        moved = lab.moves.relocated(partition, elsewhere, start=start, name=f"move v{version}")
        lab.observer.producers(moved, as_="forgotten")
        txn.add(moved)
        txn.produce(moved, version=version, as_="transactional write", retry=())
        plain.produce(moved, version=version, sequence=BEFORE, as_="idempotent write", retry=())
        txn.end(commit=True, as_="commit")


def check(seen: Evidence) -> Observations:
    """Both are accepted by the leader that did not know them, and can be read."""
    steps = (seen.all(name) for name in ("emptied", "forgotten", "transactional write", "idempotent write", "commit"))
    for emptied, forgotten, own, plain, end in zip(*steps, strict=True):
        seen.fault(f"move v{own.version}")
        if emptied.error != 0 or forgotten.fields.get("producers"):
            raise NotSeen("the new leader knew a producer")
        for write in (own, plain):
            if write.request_int("base_sequence") != BEFORE:
                raise NotSeen("the write did not go on with the producer's sequence")
            taken = expect.accepted(write, otherwise="next-write-refused")
            yield expect.habit(taken) if write.error == KafkaError.UNKNOWN_PRODUCER_ID else taken
        yield expect.accepted(end, otherwise="commit-refused")
        accepted = expect.values(seen, "transactional write", "idempotent write", at=f"P{own.version}")
        yield from expect.sound(seen, f"P{own.version}", accepted)


_ASKED: dict[str, Json] = {"producer_id": 7, "base_sequence": BEFORE, "partitions": ["P9"]}
GOOD = evidence(
    replace(written("emptied", 9), request={}),
    producers("forgotten"),
    replace(written("transactional write", 9), request={**_ASKED, "values": ["a"]}),
    replace(written("idempotent write", 9), request={**_ASKED, "values": ["b"]}),
    ended("commit", version=4),
    faults=(Fault(name="move v9", kind="move", where="broker 1 → broker 2", started=0, ended=1),),
    logs={"P9": log(data(7, 0, "a", sequence=3), data(8, 0, "b", sequence=3, transactional=False), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP360-RET-04",
    source=Source(360, "Proposed Changes: disagreement between the replicas"),
    statement="A leader without state of a producer accepts the producer's next write.",
    needs=(Offers("Produce", 9), Offers("DeleteRecords", 0)),
    access=(Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(
            Refusal(
                "next-write-refused",
                GOOD.with_step(f"{kind} write", error=error).with_log(
                    "P9", batches=(*kept, *GOOD.log("P9").batches[2:]), committed=kept[0].values
                ),
            )
            for kind, kept in (
                ("transactional", GOOD.log("P9").batches[1:2]),
                ("idempotent", GOOD.log("P9").batches[:1]),
            )
            for error in (KafkaError.UNKNOWN_PRODUCER_ID, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)
        ),
        Refusal("commit-refused", GOOD.with_step("commit", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, "P9"),
    ),
    refuted_by=(Failpoint(rules=GAP_REFUSED_OF_EVERYBODY, anomaly="next-write-refused"),),
)
