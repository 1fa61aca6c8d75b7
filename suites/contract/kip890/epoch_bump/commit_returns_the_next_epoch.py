"""KIP890-BUMP-01: the answer to a commit carries the epoch for the next transaction, and the coordinator goes by it.

Tried twice in a row over three partitions, so that the returned epoch is seen to be the one with which the producer may
go on, while another producer's transaction, which is aborted in the end, is open on one of them. All of it is the KIP's
promise; by which name the coordinator calls a completed transaction is not compared.
"""

from dataclasses import replace

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.byteman.marker_rules import MARKERS_ABORT
from harness.contract.doctored import commit, data, described, ended, evidence, log, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Batch
from harness.lab import Lab

ALIASES = ("P1", "P2", "P3")


def stimulus(lab: Lab) -> None:
    """Two transactions, one after the other, each with the epoch that the commit before it returned."""
    txn, other = lab.producer(protocol=2), lab.producer("rival", protocol=2)
    partitions = [lab.partition(alias) for alias in ALIASES]
    other.write(partitions[0])
    for _ in range(2):
        for partition in partitions:
            txn.produce(partition, as_="write")
        txn.end(commit=True, as_="commit")
        lab.reached(txn, "CompleteCommit", as_="kept")
    other.end(commit=False, as_="other abort")


def check(seen: Evidence) -> Observations:
    """Each commit returns its producer id and the next epoch; that identity is kept and accepted."""
    for write in seen.all("write"):
        yield expect.accepted(write, otherwise="returned-epoch-refused")
    for end, kept in zip(seen.all("commit"), seen.all("kept"), strict=True):
        own, bumped = end.request_int("producer_id"), end.request_int("producer_epoch") + 1
        yield expect.accepted(end, otherwise="commit-refused")
        yield expect.shows(end, producer_id=own, otherwise="wrong-producer-id")
        yield expect.shows(end, producer_epoch=bumped, otherwise="epoch-not-bumped")
        yield expect.over(kept)
        yield expect.keeps(kept, producer_id=own, epoch=bumped, otherwise="another-identity-kept")
    yield expect.accepted(seen["other abort"], otherwise="other-abort-refused")
    for alias in ALIASES:
        committed = expect.values(seen, "write", at=alias)
        yield from expect.sound(seen, alias, committed=committed, shown="committed-record-not-shown")


def _two_commits(alias: str) -> tuple[Batch, ...]:
    return (data(7, 0, f"a of {alias}"), commit(7, 1), data(7, 1, f"b of {alias}"), commit(7, 2))


GOOD = evidence(
    *(written("write", 12, f"{value} of {alias}", to=alias) for value in "ab" for alias in ALIASES),
    *(ended("commit", epoch=epoch) for epoch in (0, 1)),
    *(described("kept", "CompleteCommit", epoch=epoch) for epoch in (1, 2)),
    ended("other abort", committed=False),
    logs={alias: log(*_two_commits(alias)) for alias in ALIASES},
)
_REFUSED = replace(
    next(step for step in reversed(GOOD.steps) if step.name == "write"), error=KafkaError.PRODUCER_FENCED
)
_UNWRITTEN = replace(GOOD, steps=(*GOOD.steps, replace(_REFUSED, request={"partitions": ["P3"]})))

REQUIREMENT = Requirement(
    id="KIP890-BUMP-01",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A commit with EndTxn v5 returns the same producer id and the next epoch.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("commit-refused", GOOD.with_step("commit", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-producer-id", GOOD.with_step("commit", producer_id=-1)),
        Refusal("epoch-not-bumped", GOOD.with_step("commit", producer_epoch=0)),
        Refusal("another-identity-kept", GOOD.with_step("kept", producer_epoch=0)),
        Refusal("transaction-not-over", GOOD.with_step("kept", state="PrepareCommit")),
        Refusal("returned-epoch-refused", _UNWRITTEN),
        Refusal("other-abort-refused", GOOD.with_step("other abort", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, appended=None, shown="committed-record-not-shown"),
    ),
    refuted_by=(
        Failpoint(rules=rules.END_WITHOUT_BUMP, anomaly="epoch-not-bumped"),
        Failpoint(rules=rules.COMMITTED_KEEPS_THE_LAST_EPOCH, anomaly="another-identity-kept"),
        Failpoint(rules=rules.END_NAMES_NO_PRODUCER_ID, anomaly="wrong-producer-id"),
        Liar(api="EndTxn", skip=2, instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="other-abort-refused"),
        Failpoint(rules=MARKERS_ABORT, anomaly="committed-record-not-shown"),
        Liar(api="EndTxn", error=KafkaError.INVALID_TXN_STATE, at_most=1, anomaly="commit-refused"),
    ),
)
