"""KIP890-BUMP-09: the next transaction is written in the epoch that EndTxn returned, without InitProducerId.

Six transactions one after the other, commits and aborts in turn, each with a record for each of three partitions. After
n of them the epoch is n further on; each marker is one epoch above its data, and no two transactions share an epoch.
A second producer's transaction is open on one of the partitions throughout.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.transaction_metadata_rules import (
    ABORTED_KEEPS_THE_LAST_EPOCH,
    COMMITTED_KEEPS_THE_LAST_EPOCH,
    END_WITHOUT_BUMP,
)
from harness.contract.doctored import adopted, commit, data, log, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

ALIASES = ("P1", "P2", "P3")
IN_TURN = (Result.COMMIT, Result.ABORT) * 3


def stimulus(lab: Lab) -> None:
    """One InitProducerId for all of them."""
    txn, other = lab.producer("victim", protocol=2), lab.producer("rival", protocol=2)
    partitions = [lab.partition(alias) for alias in ALIASES]
    other.produce(partitions[0], as_="other write")
    for result in IN_TURN:
        for partition in partitions:
            txn.produce(partition, sequence=0, as_=f"write before {result.noun}")
        txn.end(commit=result.commits, as_="end")
    lab.reached(txn, IN_TURN[-1].completed, as_="kept")
    other.end(commit=True, as_="other end")


def check(seen: Evidence) -> Observations:
    """Every epoch is one above the one before, in answers, in the logs and with the coordinator."""
    ends, kept = seen.all("end"), seen["kept"]
    own, first = ends[0].request_int("producer_id"), ends[0].request_int("producer_epoch")
    for write in (step for result in Result for step in seen.all(f"write before {result.noun}")):
        yield expect.accepted(write, otherwise="returned-epoch-refused")
    for number, end in enumerate(ends, start=first + 1):
        yield expect.accepted(end, otherwise="end-refused")
        yield expect.identity(end, own, number)
    yield expect.over(kept)
    yield expect.keeps(kept, producer_id=own, epoch=first + len(ends), otherwise="wrong-identity-kept")
    for alias in ALIASES:
        batches = [batch for batch in seen.log(alias).batches if batch.producer_id == own]
        rows = [(batch.control, batch.producer_epoch) for batch in batches]
        ended = [((None, epoch), (result.marker, epoch + 1)) for epoch, result in enumerate(IN_TURN, first)]
        yield expect.agree(
            f"batches in {alias}", rows, [row for both in ended for row in both], otherwise="epoch-shared"
        )
        committed = expect.values(seen, "write before commit", "other write", at=alias)
        yield from expect.sound(seen, alias, committed=committed)


GOOD = adopted(__file__, "KIP890-BUMP-09")
_SHARED = log(data(7, 0, "a"), commit(7, 1), data(7, 1, "b"), commit(7, 1))

REQUIREMENT = Requirement(
    id="KIP890-BUMP-09",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="The next transaction uses the returned epoch without InitProducerId.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal(
            "returned-epoch-refused", GOOD.with_step("write before abort", error=KafkaError.INVALID_PRODUCER_EPOCH)
        ),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-identity-returned", GOOD.with_step("end", producer_epoch=1)),
        Refusal("transaction-not-over", GOOD.with_step("kept", state="PrepareAbort")),
        Refusal("wrong-identity-kept", GOOD.with_step("kept", producer_epoch=1)),
        Refusal("epoch-shared", GOOD.with_log("P2", batches=_SHARED.batches)),
        *unsound(GOOD, "P1", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="wrong-identity-returned"),
        Failpoint(rules=COMMITTED_KEEPS_THE_LAST_EPOCH, anomaly="returned-epoch-refused"),
        Failpoint(rules=ABORTED_KEEPS_THE_LAST_EPOCH, anomaly="wrong-identity-kept"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="epoch-shared"),
    ),
)
