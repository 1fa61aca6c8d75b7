"""KIP664-DP-08: after the end of a transaction the leader's entry has the epoch of the marker, and none is open.

KIP-890 has the bumped epoch in the marker of a new client's transaction, so that the leader keeps it from then on and
fences what is late; for an old client (EndTxn v4) epochs stay. Kafka also forgets the sequences with the old epoch
(LastSequence -1) and keeps the last one where the epoch stays; how an entry shows that is Kafka's habit, and so is it
that a leader keeps an entry of an ended transaction at all.
"""

from harness.contract import Evidence, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import MARKERS_IN_ANOTHER_EPOCH
from harness.contract.byteman.leader_rules import (
    ABORT_MARKER_ENDS_NOTHING,
    NO_EPOCH_CHECK,
    SEQUENCES_KEPT_ACROSS_EPOCHS,
)
from harness.contract.byteman.looks_rules import NO_LAST_SEQUENCES_TOLD, NO_PRODUCERS_TOLD
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, producer_row, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

VALUES = ("a", "b", "c")
CASES = tuple((version, result) for version in (4, 5) for result in Result)


def stimulus(lab: Lab) -> None:
    """Two batches and an end, by an old and a new client, with commit and abort; the entry before and after."""
    partition = lab.partition("P1")
    for version, result in CASES:
        txn, name = lab.producer(protocol=2 if version == 5 else 1), f"{result.noun} v{version}"
        txn.write(partition)
        txn.produce(partition, values=VALUES)
        lab.observer.producers(partition, as_=f"before {name}")
        txn.end(commit=result.commits, version=version, as_=name)
        lab.settled()
        lab.observer.producers(partition, as_=f"after {name}")


def check(seen: Evidence) -> Observations:
    """Before: the epoch and last sequence of the data, open. After: the marker's epoch; no sequence in a new one."""
    for version, result in CASES:
        name = f"{result.noun} v{version}"
        end, before, after = seen[name], seen[f"before {name}"], seen[f"after {name}"]
        own, epoch, last = end.request_int("producer_id"), end.request_int("producer_epoch"), len(VALUES)
        bumped = version == 5
        yield expect.accepted(end, otherwise="end-refused")
        yield expect.producer(before, own, producer_epoch=epoch, last_sequence=last, otherwise="wrong-entry-before")
        yield expect.not_open(after, own, otherwise="still-open-after-marker")
        known = bool(expect.row(after, "producers", producer_id=own))
        if after.told:
            what = f"{after.name}: the leader keeps an entry of {own}"
            yield expect.habit(expect.unless(known, what, after, otherwise="entry-gone"))
        if known:
            yield expect.producer(after, own, producer_epoch=epoch + bumped, otherwise="wrong-epoch-after")
            kept = expect.producer(after, own, last_sequence=-1 if bumped else last, otherwise="wrong-sequence-after")
            yield expect.habit(kept)
    shown = [seen[f"{Result.COMMIT.noun} v{version}"].request_int("producer_id") for version in (4, 5)]
    committed = [value for batch in seen.log().batches if batch.producer_id in shown for value in batch.values]
    yield from expect.sound(seen, committed=committed)


GOOD = adopted(__file__, "KIP664-DP-08")


def after(name: str, **row: int) -> Evidence:
    """A sound run, but for the entry after an end."""
    own = GOOD[name].request_int("producer_id")
    return GOOD.with_step(f"after {name}", producers=[producer_row(own, **row)])


REQUIREMENT = Requirement(
    id="KIP664-DP-08",
    source=Source(664, "DescribeProducers, with the epoch bump of KIP-890"),
    statement="After an end the leader lists the producer in the marker's epoch, without an open transaction.",
    needs=(Offers("DescribeProducers", 0), Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("abort v5", error=51)),
        Refusal("wrong-entry-before", GOOD.with_step("before commit v4", producers=[])),
        Refusal("still-open-after-marker", after("abort v5", epoch=1, since=3)),
        Refusal("entry-gone", GOOD.with_step("after commit v4", producers=[])),
        Refusal("wrong-epoch-after", after("commit v5", epoch=0)),
        Refusal("wrong-epoch-after", after("commit v4", epoch=1, last_sequence=3)),
        Refusal("wrong-sequence-after", after("abort v5", epoch=1, last_sequence=3)),
        Refusal("wrong-sequence-after", after("abort v4", epoch=0, last_sequence=-1)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=SEQUENCES_KEPT_ACROSS_EPOCHS, anomaly="wrong-sequence-after"),
        Failpoint(rules=END_WITHOUT_BUMP + NO_EPOCH_CHECK, anomaly="wrong-epoch-after"),
        Failpoint(rules=MARKERS_IN_ANOTHER_EPOCH, anomaly="wrong-epoch-after"),
        Failpoint(rules=ABORT_MARKER_ENDS_NOTHING, anomaly="still-open-after-marker"),
        Failpoint(rules=NO_LAST_SEQUENCES_TOLD, anomaly="wrong-entry-before"),
        Failpoint(rules=NO_PRODUCERS_TOLD, anomaly="entry-gone"),
    ),
)
