"""KIP890-OVF-01: whose transaction ends in the last epoch goes on as another producer, in epoch 0.

An id has 32,767 epochs, and since KIP-890 each transaction uses one up. Two producers, one of which commits and one of
which aborts, end a transaction in the epoch before the last one, which keeps the id, and one in the last. That the next
id comes with the answer, that the markers carry the old id one epoch up, and what is kept is the KIP's promise; which
epoch is the last (32766: 32767 is left for fencing) is Kafka's choice, ``TransactionMetadata.isEpochExhausted``.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.byteman.coordinator_rules import MARKERS_IN_THE_LAST_EPOCH
from harness.contract.byteman.leader_rules import NO_EPOCH_CHECK
from harness.contract.doctored import adopted, commit, log, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH

ALIASES = ("P1", "P2")


def stimulus(lab: Lab) -> None:
    """Of each producer two transactions over two partitions: the last but one, and the last of its id."""
    partitions = [lab.partition(alias) for alias in ALIASES]
    for txn, result in zip(lab.near_the_end(epoch=LAST_EPOCH - 1, count=2, protocol=2), Result, strict=True):
        for name in (f"{result.noun} before the last", f"last {result.noun}"):
            for partition in partitions:
                txn.produce(partition, as_="write")
            txn.end(commit=result.commits, as_=name)
            lab.reached(txn, result.completed, as_=f"kept after {name}")


def check(seen: Evidence) -> Observations:
    """The last epoch is still given; its end gives another id, which the coordinator keeps; markers tell the old."""
    owners = {}
    for result in Result:
        before, last = seen[f"{result.noun} before the last"], seen[f"last {result.noun}"]
        kept = seen[f"kept after last {result.noun}"]
        owners[result] = own = before.request_int("producer_id")
        for end in (before, last):
            yield expect.accepted(end, otherwise="end-refused")
        yield expect.identity(before, own, LAST_EPOCH, otherwise="rotated-too-early")
        following = last.answer_int("producer_id")
        other = f"producer id after {own}, {following}, is another one"
        yield expect.unless(following not in (own, -1), other, last, otherwise="same-producer-id")
        yield expect.shows(last, producer_epoch=0, otherwise="wrong-first-epoch")
        yield expect.over(kept)
        yield expect.keeps(kept, producer_id=following, epoch=0, partitions=(), otherwise="wrong-stored-identity")
    for alias in ALIASES:
        committed, aborted = (values(seen, alias, owners[result]) for result in Result)
        markers = [(result.marker, LAST_EPOCH + more, owners[result]) for result in Result for more in (0, 1)]
        yield from expect.sound(seen, alias, (*committed, *aborted), committed=committed, markers=markers)


def values(seen: Evidence, alias: str, producer_id: int) -> tuple[str, ...]:
    """What the producer wrote to the partition under its first id."""
    steps = expect.writes(seen, alias, "write")
    return tuple(value for step in steps if step.request["producer_id"] == producer_id for value in step.written())


GOOD = adopted(__file__, "KIP890-OVF-01")
SAME_ID = GOOD.with_step("last commit", producer_id=7).with_step("kept after last commit", producer_id=7)

REQUIREMENT = Requirement(
    id="KIP890-OVF-01",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1), overflow"),
    statement="Ending a transaction in the last epoch returns a new producer id with epoch 0.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    access=(Access.LOAD,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("last abort", error=KafkaError.PRODUCER_FENCED)),
        Refusal("rotated-too-early", GOOD.with_step("commit before the last", producer_epoch=0)),
        Refusal("same-producer-id", SAME_ID),
        Refusal("wrong-first-epoch", GOOD.with_step("last abort", producer_epoch=LAST_EPOCH + 1)),
        Refusal("transaction-not-over", GOOD.with_step("kept after last commit", state="PrepareCommit")),
        Refusal("wrong-stored-identity", GOOD.with_step("kept after last abort", producer_epoch=LAST_EPOCH + 1)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(*GOOD.log().batches, commit(7, 0)))),
        *unsound(GOOD, "P2"),
    ),
    refuted_by=(
        Failpoint(rules=rules.END_KEEPS_THE_PRODUCER_ID, anomaly="same-producer-id"),
        Failpoint(rules=rules.COMMITTED_KEEPS_THE_LAST_EPOCH, anomaly="wrong-stored-identity"),
        Failpoint(rules=MARKERS_IN_THE_LAST_EPOCH + NO_EPOCH_CHECK, anomaly="wrong-markers"),
    ),
)
