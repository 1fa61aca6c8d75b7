"""KIP890-SEQ-02, -03: who is no new transactional client may begin at any sequence where the leader does not know it.

The leader may have lost what it knew by retention; older clients would take a refusal for fatal data loss. KIP-890
refuses gaps "for new clients" and is silent about the others, and KIP-360 left it open whom a leader without state
takes ("Rejected Alternatives": those that begin at 0). So it is Kafka's alone that older clients (SEQ-02) and
idempotent producers at the newest version (SEQ-03) are taken (``ProducerAppendInfo.checkSequence``); whether it shall
stay so is under discussion (KAFKA-19880).
"""

from collections.abc import Callable

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import GAP_REFUSED_OF_EVERYBODY
from harness.contract.doctored import commit, data, evidence, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import LogTruth
from harness.lab import Lab

GAP = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


def older_clients(lab: Lab) -> None:
    """In a transaction that added the partition, a first batch that begins at 3."""
    partition = lab.partition("P1")
    for version in lab.offered("Produce", (9, 11)):
        txn = lab.producer(protocol=1)
        txn.add(partition)
        txn.produce(partition, version=version, sequence=3, as_="gap", retry=())
        txn.produce(partition, version=version, sequence=4, as_="next write", retry=())
        txn.end(commit=True)


def idempotent_clients(lab: Lab) -> None:
    """Without a transactional id, a first batch that begins at 3."""
    partition = lab.partition("P1")
    for version in lab.offered("Produce", (9, 12, 13)):
        producer = lab.idempotent()
        producer.produce(partition, version=version, sequence=3, as_="gap", retry=())
        producer.produce(partition, version=version, sequence=4, as_="next write", retry=())


def check(seen: Evidence) -> Observations:
    """Accepted, and the next one after it; both can be read."""
    values: list[str] = []
    for gap, after in zip(seen.all("gap"), seen.all("next write"), strict=True):
        for write in (gap, after):
            yield expect.accepted(write, otherwise="gap-refused")
            values += write.written() if write.error == 0 else ()
    yield from expect.sound(seen, "P1", values)


def requirement(id_: str, stimulus: Callable[[Lab], None], who: str, version: int, truth: LogTruth) -> Requirement[Lab]:
    """The promise for these producers."""
    first, second, *rest = truth.batches
    good = evidence(written("gap", version, "a"), written("next write", version, "b"), logs={"P1": truth})
    return Requirement(
        id=id_,
        level=Level.SHOULD,
        source=Source(890, "Return Error for Non-Zero Sequence on New Producers"),
        statement=f"{who} first batch on a partition may have any sequence.",
        needs=(Offers("Produce", version),),
        stimulus=stimulus,
        check=check,
        accepts=(good,),
        refuses=(
            Refusal(
                "gap-refused",
                good.with_step("gap", error=GAP).with_log("P1", batches=(second, *rest), committed=("b",)),
            ),
            Refusal(
                "gap-refused",
                good.with_step("next write", error=GAP).with_log("P1", batches=(first, *rest), committed=("a",)),
            ),
            *unsound(good),
        ),
        refuted_by=(Failpoint(rules=GAP_REFUSED_OF_EVERYBODY, anomaly="gap-refused"),),
    )


_IN_TRANSACTION = log(data(7, 0, "a", sequence=3), data(7, 0, "b", sequence=4), commit(7, 0))
_OUTSIDE = log(data(7, 0, "a", sequence=3, transactional=False), data(7, 0, "b", sequence=4, transactional=False))

REQUIREMENTS = (
    requirement("KIP890-SEQ-02", older_clients, "An older client's", 9, _IN_TRANSACTION),
    requirement("KIP890-SEQ-03", idempotent_clients, "An idempotent producer's", 12, _OUTSIDE),
)
