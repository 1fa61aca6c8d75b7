"""KIP890-COMPAT-12: the version of EndTxn alone says how a transaction ends, whoever wrote into it.

A transaction that Produce v12 began is ended by EndTxn v4, which keeps the epoch and writes the marker in it; one that
AddPartitionsToTxn v3 and Produce v11 began is ended by v5, which bumps both. Commits and aborts, one after the other in
one id over two partitions, with another producer's transaction open beside them. An end in a wrong epoch is refused.

A client that changes its protocol does so between two transactions, so no KIP promises this mixture. That none of them
loses or shows a wrong record is what every KIP relies on; the epochs are Kafka's.
"""

from collections.abc import Sequence
from dataclasses import replace

from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    Observation,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import ANY_EPOCH_MAY_END, MARKERS_IN_ANOTHER_EPOCH
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import epoch_after_end, fenced
from harness.evidence.requirement_evidence import Batch, Step
from harness.lab import Lab, Partition, Producer

ALIASES = ("P1", "P2")


def stimulus(lab: Lab) -> None:
    """Each mixture with each kind of end; then one more transaction in the epoch that is current."""
    partitions = [lab.partition(alias) for alias in ALIASES]
    txn, other = lab.producer("victim", protocol=2), lab.producer("rival", protocol=2)
    other.produce(partitions[0], as_="other write")
    for end_version in (4, 5):
        for result in Result:
            for partition in partitions:
                _write(txn, partition, 12 if end_version == 4 else 11, f"write before {result.noun}")
            wrong = txn.epoch - 1 if txn.epoch else txn.epoch + 1
            txn.end(commit=result.commits, version=end_version, epoch=wrong, as_="end in a wrong epoch")
            txn.end(commit=result.commits, version=end_version, as_="end")
            lab.reached(txn, result.completed, as_="ended")
    txn.produce(partitions[0], as_="write before commit")
    txn.end(commit=True, version=5, as_="end")
    other.end(commit=True, version=4, as_="other end")


def _write(txn: Producer, partition: Partition, version: int, name: str) -> None:
    if version < 12:
        txn.add(partition, version=3)
    txn.produce(partition, version=version, as_=name)


def check(seen: Evidence) -> Observations:
    """Each ends as it was asked to, with the epoch of the version of its end."""
    ends = seen.all("end")
    for mine in (*(step for r in Result for step in seen.all(f"write before {r.noun}")), *ends, seen["other end"]):
        yield expect.accepted(mine, otherwise="own-request-refused")
    for wrong in seen.all("end in a wrong epoch"):
        yield expect.refused(
            wrong, fenced("EndTxn", wrong.version), code=Level.SHOULD, otherwise="wrong-epoch-accepted"
        )
    for ended, end in zip(seen.all("ended"), ends, strict=False):
        epoch = epoch_after_end(end.request_int("producer_epoch"), end.version)
        yield expect.over(ended)
        yield expect.habit(expect.keeps(ended, epoch=epoch, otherwise="wrong-epoch-kept"))
    own = ends[0].request_int("producer_id")
    for alias in ALIASES:
        markers = [marker for marker in seen.log(alias).markers() if marker.producer_id == own]
        there = [end for end in ends if alias == "P1" or end is not ends[-1]]
        kinds = [Result.of(end.request["committed"]).marker for end in there]
        found = [marker.control for marker in markers]
        yield expect.agree(f"own markers in {alias}", found, kinds, otherwise="wrong-markers")
        yield expect.habit(_epochs(f"epochs of markers in {alias}", markers, there))
        committed = expect.values(seen, "other write", "write before commit", at=alias)
        yield from expect.sound(seen, alias, committed=committed)


def _epochs(what: str, markers: Sequence[Batch], ends: Sequence[Step]) -> Observation:
    """Of the markers that there are."""
    promised = [epoch_after_end(end.request_int("producer_epoch"), end.version) for end in ends]
    found = [marker.producer_epoch for marker in markers]
    return expect.agree(what, found, promised[: len(found)], *ends, otherwise="wrong-marker-epochs")


GOOD = adopted(__file__, "KIP890-COMPAT-12")
_SHIFTED = tuple(replace(batch, producer_epoch=batch.producer_epoch + 1) for batch in GOOD.log("P2").batches)

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-12",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan"),
    statement="EndTxn v4 after new writes and EndTxn v5 after old ones both end the transaction correctly.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Offers("AddPartitionsToTxn", 3)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-request-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-epoch-accepted", GOOD.with_step("end in a wrong epoch", error=0)),
        Refusal("wrong-error", GOOD.with_step("end in a wrong epoch", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("end in a wrong epoch", error=None)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="PrepareCommit")),
        Refusal("wrong-epoch-kept", GOOD.with_step("ended", producer_epoch=9)),
        Refusal("wrong-markers", GOOD.with_log("P2", batches=GOOD.log("P2").batches[:-1])),
        Refusal("wrong-marker-epochs", GOOD.with_log("P2", batches=_SHIFTED)),
        *unsound(GOOD, "P1", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ANY_EPOCH_MAY_END, anomaly="wrong-epoch-accepted"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="wrong-marker-epochs"),
        Failpoint(rules=MARKERS_IN_ANOTHER_EPOCH, anomaly="wrong-marker-epochs"),
        Liar(api="DescribeTransactions", shift={"producer_epoch": 1}, anomaly="wrong-epoch-kept"),
    ),
)
