"""KIP890-MARK-04: a newer coordinator writes its markers to a leader that does not know the newest WriteTxnMarkers.

Version 2 tells the leader the transaction version; leaders before 4.2 do not offer it. A coordinator of 4.2.0 asked
with it all the same and never completed such a transaction (KAFKA-20322). Markers that reach every partition are what
the KIP is about, also while a cluster is upgraded. Old and new protocol, commit and abort are tried.
"""

from typing import Literal

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import MARKERS_IN_ANOTHER_EPOCH
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, sample, unsound, written
from harness.contract.refuters import Failpoint, Release
from harness.contract.version_tables import epoch_after_end
from harness.lab import Lab
from suites.contract.wishes import MARKED_BY_41

OLDER = 1
PROTOCOLS: tuple[Literal[1, 2], ...] = (1, 2)
ENDED = tuple(f"ended {protocol} {result.noun}" for protocol in PROTOCOLS for result in Result)


def stimulus(lab: Lab) -> None:
    """On a partition of the older leader, a producer of each protocol commits and aborts."""
    partition = lab.partition("P1", leader=OLDER)
    coordinator = lab.another_broker(OLDER)
    for protocol in PROTOCOLS:
        txn = lab.producer(protocol=protocol, coordinator=coordinator)
        for result in Result:
            if protocol == 1:
                txn.add(partition)
            txn.produce(partition, as_="write")
            txn.end(commit=result.commits, as_="end")
            lab.reached(txn, result.completed, as_="kept")
            lab.sample(f"ended {protocol} {result.noun}", partition)


def check(seen: Evidence) -> Observations:
    """Each end is taken and completes: its marker is in the log and readers go on."""
    ends, writes = seen.all("end"), seen.all("write")
    for end, kept in zip(ends, seen.all("kept"), strict=True):
        yield expect.accepted(end, otherwise="end-refused")
        yield expect.over(kept)
    for name in ENDED:
        yield expect.stable(seen.sample(name), otherwise="stuck-lso")
    results = [Result.of(end.request["committed"]) for end in ends]
    epochs = [epoch_after_end(end.request_int("producer_epoch"), end.version) for end in ends]
    markers = tuple((result.marker, epoch) for result, epoch in zip(results, epochs, strict=True))
    committed = [
        value for result, own in zip(results, writes, strict=True) if result.commits for value in own.written()
    ]
    yield from expect.sound(seen, "P1", committed=committed, markers=markers)


GOOD = evidence(
    *(written("write", 12, value) for value in "abcd"),
    ended(version=4),
    ended(version=4, committed=False),
    ended(epoch=0),
    ended(epoch=1, committed=False),
    *(described("kept", state) for state in ("CompleteCommit", "CompleteAbort") * 2),
    samples=tuple(sample(name, "P1", end, end) for name, end in zip(ENDED, (2, 4, 6, 8), strict=True)),
    logs={
        "P1": log(
            data(7, 0, "a"),
            commit(7, 0),
            data(7, 0, "b"),
            abort(7, 0),
            data(8, 0, "c"),
            commit(8, 1),
            data(8, 1, "d"),
            abort(8, 2),
        )
    },
)

REQUIREMENT = Requirement(
    id="KIP890-MARK-04",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A coordinator writes its markers to a leader of an older release.",
    needs=(Offers("WriteTxnMarkers", 2), Offers("EndTxn", 5)),
    access=(Access.BROKERS,),
    cluster=MARKED_BY_41,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.COORDINATOR_NOT_AVAILABLE)),
        Refusal("transaction-not-over", GOOD.with_step("kept", state="PrepareCommit")),
        Refusal("stuck-lso", GOOD.with_sample(ENDED[0], last_stable_offset=0)),
        *unsound(GOOD, appended=None),
        Refusal("wrong-markers", GOOD.with_log(truth=GOOD.log(), batches=GOOD.log().batches[:-1])),
    ),
    refuted_by=(
        Release(version="4.2.0", anomaly="transaction-not-over"),
        Failpoint(rules=MARKERS_IN_ANOTHER_EPOCH, anomaly="wrong-markers"),
    ),
)
