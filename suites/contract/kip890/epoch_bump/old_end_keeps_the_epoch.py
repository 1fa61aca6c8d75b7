"""KIP890-BUMP-04: EndTxn of versions 0 to 4 ends a transaction in its own epoch, for clients that know no other.

That these versions return no identity needs no check: their answers have no room for one. The KIP bumps the epoch for
newer clients alone, so all of this is its promise; names of states are not compared.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import MARKERS_IN_ANOTHER_EPOCH
from harness.contract.byteman.transaction_metadata_rules import COMMITTED_KEEPS_ANOTHER_EPOCH
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """One producer commits and aborts at every old version in turn, and commits once more at the end."""
    txn, partition = lab.producer(), lab.partition("P1")
    offered = lab.offered("EndTxn", range(5))
    ends = [(version, result) for version in offered for result in Result]
    for version, result in [*ends, (offered[-1], Result.COMMIT)]:
        txn.add(partition, as_="add")
        txn.produce(partition, as_="write")
        txn.end(commit=result.commits, version=version, as_="end")
        lab.reached(txn, result.completed, as_="kept")


def check(seen: Evidence) -> Observations:
    """Every transaction is accepted in the first epoch, ends as asked, and its marker and id stay in that epoch."""
    ends = seen.all("end")
    results, epoch = [Result.of(end.request["committed"]) for end in ends], ends[0].request_int("producer_epoch")
    for begun in (*seen.all("add"), *seen.all("write")):
        yield expect.accepted(begun, otherwise="next-transaction-refused")
    for end, kept in zip(ends, seen.all("kept"), strict=True):
        yield expect.accepted(end, otherwise="old-end-refused")
        yield expect.over(kept, otherwise="wrong-state")
        yield expect.keeps(kept, epoch=epoch, otherwise="epoch-bumped")
    pairs = zip(seen.all("write"), results, strict=True)
    committed = [value for write, result in pairs if result.commits for value in write.written()]
    yield from expect.sound(seen, committed=committed)
    yield expect.marks(seen, "P1", *((result.marker,) for result in results))
    epochs = {marker.producer_epoch for marker in seen.log().markers()}
    yield expect.agree("epochs of the markers", epochs, {epoch}, *ends, otherwise="marker-epoch-changed")


GOOD = evidence(
    step("add", "AddPartitionsToTxn", 3),
    written("write", 11, "a"),
    ended(version=0),
    described("kept", "CompleteCommit"),
    written("write", 11, "b"),
    ended(version=4, committed=False),
    described("kept", "CompleteAbort"),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), abort(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-04",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="EndTxn of versions 0 to 4 does not bump the epoch, and the next transaction works in the same epoch.",
    needs=(Offers("EndTxn", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("next-transaction-refused", GOOD.with_step("add", error=KafkaError.PRODUCER_FENCED)),
        Refusal("old-end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-state", GOOD.with_step("kept", state="PrepareAbort")),
        Refusal("epoch-bumped", GOOD.with_step("kept", producer_epoch=1)),
        Refusal("next-transaction-refused", GOOD.with_step("write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 0), commit(7, 0)))),
        Refusal("marker-epoch-changed", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 1), abort(7, 0)))),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=COMMITTED_KEEPS_ANOTHER_EPOCH, anomaly="epoch-bumped"),
        Failpoint(rules=MARKERS_IN_ANOTHER_EPOCH, anomaly="marker-epoch-changed"),
        Liar(api="EndTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="old-end-refused"),
    ),
)
