"""KIP890-BUMP-04: EndTxn of versions 0 to 4 ends a transaction in its own epoch, for clients that know no other.

That these versions return no identity needs no check: their answers have no room for one.
"""

from collections.abc import Iterator

from harness.contract import Failpoint, Level, Observation, Offers, Refusal, Requirement, Source, accepted, agree, shows
from harness.contract.byteman.coordinator_rules import MARKERS_IN_ANOTHER_EPOCH
from harness.contract.byteman.transaction_metadata_rules import COMMITTED_KEEPS_ANOTHER_EPOCH
from harness.contract.doctored import abort, commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

VERSIONS = range(5)


def stimulus(lab: Lab) -> None:
    """One producer commits and aborts at every old version in turn, and commits once more at the end."""
    txn = lab.producer("victim", protocol=1)
    partition = lab.partition("P1")
    offered = lab.offered("EndTxn", VERSIONS)
    ends = [(version, commits) for version in offered for commits in (True, False)]
    for version, commits in [*ends, (offered[-1], True)]:
        txn.add(partition, as_="add")
        txn.produce(partition, as_="write")
        txn.end(commit=commits, version=version, as_="end")
        lab.reached(txn, "CompleteCommit" if commits else "CompleteAbort", as_="kept")


def check(seen: Evidence) -> Iterator[Observation]:
    """Every transaction is accepted in the first epoch, ends as asked, and its marker and id stay in that epoch."""
    ends = seen.all("end")
    epoch = ends[0].asked("producer_epoch")
    for step_ in (*seen.all("add"), *seen.all("write")):
        yield accepted(step_, otherwise="next-transaction-refused")
    for end, kept in zip(ends, seen.all("kept"), strict=True):
        state = "CompleteCommit" if end.request["committed"] else "CompleteAbort"
        yield accepted(end, otherwise="old-end-refused")
        yield shows(kept, state=state, otherwise="wrong-state")
        yield shows(kept, producer_epoch=epoch, otherwise="epoch-bumped")
    marks = seen.log().marks()
    kinds = tuple("COMMIT" if end.request["committed"] else "ABORT" for end in ends)
    yield agree("types of markers", tuple(kind for kind, _ in marks), kinds, *ends, otherwise="wrong-markers")
    yield agree("epochs of markers", {at for _, at in marks}, {epoch}, *ends, otherwise="marker-epoch-changed")


def _transaction(version: int, committed: bool) -> Evidence:
    said = {"producer_id": 7, "producer_epoch": 0, "committed": committed}
    state = "CompleteCommit" if committed else "CompleteAbort"
    return evidence(
        step("add", "AddPartitionsToTxn", 3),
        step("write", "Produce", 11),
        step("end", "EndTxn", version, request=said),
        step("kept", "DescribeTransactions", 0, state=state, producer_id=7, producer_epoch=0),
    )


GOOD = evidence(
    *_transaction(0, True).steps,
    *_transaction(4, False).steps,
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), abort(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-04",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="EndTxn of versions 0 to 4 does not bump the epoch, and the next transaction works in the same epoch.",
    needs=(Offers("EndTxn", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("next-transaction-refused", GOOD.with_step("add", error=90)),
        Refusal("old-end-refused", GOOD.with_step("end", error=90)),
        Refusal("wrong-state", GOOD.with_step("kept", state="PrepareAbort")),
        Refusal("epoch-bumped", GOOD.with_step("kept", producer_epoch=1)),
        Refusal(
            "wrong-markers", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), commit(7, 0)))
        ),
        Refusal(
            "marker-epoch-changed",
            GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 1), data(7, 0, "b"), abort(7, 0))),
        ),
    ),
    refuted_by=(
        Failpoint(rules=COMMITTED_KEEPS_ANOTHER_EPOCH, anomaly="epoch-bumped"),
        Failpoint(rules=MARKERS_IN_ANOTHER_EPOCH, anomaly="marker-epoch-changed"),
    ),
)
