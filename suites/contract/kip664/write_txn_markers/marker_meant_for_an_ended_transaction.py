"""KIP664-WTM-02: an operator's marker that is meant for a transaction that is over must not end the next one.

Between an operator's look and his marker the transaction may have ended by itself and the producer begun another.
KIP-664 has the marker name the start offset: "the partition leader will accept the request only if there is an open
transaction beginning at the offset specified". No version of Kafka's request has that field, so the leader cannot know
which one is meant: with an old client, whose epoch stays, the marker of the first transaction aborts a part of the
second, and what is then committed is lost. With a new client the second one has another epoch, and the marker is
refused as stale.

Markers where nothing is open are not judged: a coordinator's repetition looks the same, and must be taken
(KAFKA-19999).
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import NO_EPOCH_CHECK
from harness.contract.doctored import commit, data, evidence, log, sample, step, unsound, written
from harness.contract.refuters import BASELINE, Failpoint, Release
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab

REFUSALS = (KafkaError.INVALID_TXN_STATE, KafkaError.INVALID_PRODUCER_EPOCH)
"""The KIP's code for no transaction at that offset, and Kafka's for an epoch that has passed."""


def stimulus(lab: Lab) -> None:
    """By an old and a new client: one transaction is committed, the next begins, the first one's abort marker comes."""
    for protocol in (1, 2) if lab.offered("EndTxn", (5,)) else (1,):
        partition, txn = lab.partition(f"P{protocol}"), lab.producer(protocol=2 if protocol == 2 else 1)
        if protocol == 1:
            txn.add(partition)
        txn.produce(partition, as_="first write")
        meant, generation = (txn.producer_id, txn.epoch), lab.coordinator_epoch(txn) or 0
        txn.end(commit=True)
        lab.reached(txn, "CompleteCommit", "Empty", as_="first over")
        if protocol == 1:
            txn.add(partition)
        txn.produce(partition, as_="second write")
        lab.sample(f"before {protocol}", partition)
        lab.write_marker(
            partition,
            producer_id=meant[0],
            epoch=meant[1],
            commit=False,
            coordinator_epoch=generation,
            as_="marker of the first",
        )
        lab.sample(f"after {protocol}", partition)
        txn.end(commit=True, as_="second end")
        lab.settled()


def check(seen: Evidence) -> Observations:
    """It is refused, the second transaction stays open, and all that both committed is shown."""
    markers = seen.all("marker of the first")
    for protocol, marker in enumerate(markers, start=1):
        alias, before, after = f"P{protocol}", seen.sample(f"before {protocol}"), seen.sample(f"after {protocol}")
        if before.last_stable_offset >= before.high_watermark:
            raise NotSeen("the second transaction was not open")
        yield expect.refused(marker, *REFUSALS, code=Level.SHOULD, otherwise="marker-of-another-transaction-taken")
        yield expect.unstable(after, marker, otherwise="next-transaction-ended")
        both = [*expect.writes(seen, alias, "first write"), *expect.writes(seen, alias, "second write")]
        values = [value for write in both for value in write.written()]
        yield from expect.sound(seen, alias, values, shown="committed-record-lost")
    for end in seen.all("second end"):
        yield expect.accepted(end, otherwise="end-refused")


_LOGS = {
    alias: log(data(who, 0, "a"), commit(who, later), data(who, later, "b", sequence=1), commit(who, later + later))
    for alias, who, later in (("P1", 7, 0), ("P2", 8, 1))
}
GOOD = evidence(
    *(
        written(name, 9, value, to=alias)
        for alias in _LOGS
        for name, value in (("first write", "a"), ("second write", "b"))
    ),
    *(step("marker of the first", "WriteTxnMarkers", 1, error=error) for error in REFUSALS),
    *(step("second end", "EndTxn", 4) for _ in _LOGS),
    logs=_LOGS,
    samples=tuple(sample(f"{name} {n}", f"P{n}", 3, 2) for n in (1, 2) for name in ("before", "after")),
)

REQUIREMENT = Requirement(
    id="KIP664-WTM-02",
    source=Source(664, "Recovery: the start offset of the transaction that is intended to be aborted"),
    statement="An operator's abort marker for a transaction that is over does not end the producer's next one.",
    needs=(Offers("WriteTxnMarkers", 1),),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("marker-of-another-transaction-taken", GOOD.with_step("marker of the first", error=0)),
        Refusal("wrong-error", GOOD.with_step("marker of the first", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unanswered", GOOD.with_step("marker of the first", error=None)),
        Refusal("next-transaction-ended", GOOD.with_sample("after 2", last_stable_offset=3)),
        Refusal("end-refused", GOOD.with_step("second end", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, "P2", shown="committed-record-lost"),
    ),
    refuted_by=(
        Release(version=BASELINE, anomaly="marker-of-another-transaction-taken"),
        Release(version=BASELINE, anomaly="committed-record-lost"),
        Failpoint(rules=NO_EPOCH_CHECK, anomaly="next-transaction-ended"),
    ),
)
