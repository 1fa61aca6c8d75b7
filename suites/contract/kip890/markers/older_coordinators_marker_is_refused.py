"""KIP890-MARK-05: a marker of an older coordinator generation must not end what a newer one decides.

The coordinator is moved, so that its generation (the leader epoch of the ``__transaction_state`` partition) has a real
predecessor; -1, which comes before the first one, is what KIP-664 reserves for operators. The new coordinator commits;
then an abort marker of the generation before comes late, while the producer's next transaction is open. That the newer
one's markers are taken before and after it shows that nothing else was wrong with the late one.

KIP-664 relies on it that leaders take no non-monotonic generations of a producer; the code is Kafka's.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import NO_COORDINATOR_EPOCH_CHECK
from harness.contract.byteman.looks_rules import STRANGE_COORDINATOR_EPOCHS_TOLD
from harness.contract.doctored import adopted, producer_row, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab

FENCED = KafkaError.TRANSACTION_COORDINATOR_FENCED


def stimulus(lab: Lab) -> None:
    """A transaction is begun, its coordinator moved, and ended by the next; a late marker meets the one after it."""
    partition, txn = lab.partition("P1"), lab.producer()
    txn.add(partition)
    txn.produce(partition, as_="write")
    older = lab.coordinator_epoch(txn)
    with lab.moves.coordinator(txn, name="move"):
        newer = lab.coordinator_epoch(txn)
        lab.note("generations", [older, newer])
        txn.end(commit=True, as_="end")
        lab.reached(txn, "CompleteCommit", "Empty", as_="ended")
        lab.observer.producers(partition, as_="known")
        txn.add(partition)
        txn.produce(partition, as_="write")
        lab.unless(lambda: older is not None, "the generations of the coordinator are not shown")
        lab.write_marker(
            partition,
            producer_id=txn.producer_id,
            epoch=txn.epoch,
            commit=False,
            coordinator_epoch=older or 0,
            as_="late marker",
        )
        lab.sample("after the late one", partition)
        txn.end(commit=True, as_="end")
        lab.reached(txn, "CompleteCommit", "Empty", as_="ended")


def check(seen: Evidence) -> Observations:
    """Refused and not written; the open transaction stays so, and is ended by the newer generation alone."""
    seen.fault("move")
    late, known, generations = seen["late marker"], seen["known"], seen.fact("generations")
    older, newer = generations if isinstance(generations, list) else (None, None)
    if not isinstance(older, int) or not isinstance(newer, int) or older >= newer:
        raise NotSeen(f"the coordinator's generation went from {older} to {newer}")
    own = late.request_int("producer_id")
    yield expect.habit(expect.producer(known, own, coordinator_epoch=newer, otherwise="generation-not-kept"))
    yield expect.refused(late, FENCED, code=Level.SHOULD, otherwise="stale-marker-accepted")
    yield expect.unstable(seen.sample("after the late one"), late, otherwise="next-transaction-ended")
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    for ended in seen.all("ended"):
        yield expect.over(ended, otherwise="newer-coordinator-hindered")
    values = [value for write in seen.all("write") for value in write.written()]
    markers = (("COMMIT",), ("COMMIT",))
    yield from expect.sound(seen, values=values, markers=markers, shown="committed-record-lost")


GOOD = adopted(__file__, "KIP890-MARK-05")

REQUIREMENT = Requirement(
    id="KIP890-MARK-05",
    source=Source(890, "Background: transaction markers and coordinator epochs"),
    statement="A marker with an older coordinator epoch than the partition knows for the producer is refused.",
    needs=(Offers("WriteTxnMarkers", 1),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("generation-not-kept", GOOD.with_step("known", producers=[producer_row(coordinator_epoch=0)])),
        Refusal("stale-marker-accepted", GOOD.with_step("late marker", error=0)),
        Refusal("wrong-error", GOOD.with_step("late marker", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("unanswered", GOOD.with_step("late marker", error=None)),
        Refusal("next-transaction-ended", GOOD.with_sample("after the late one", last_stable_offset=3)),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("newer-coordinator-hindered", GOOD.with_step("ended", state="PrepareCommit")),
        Refusal("wrong-markers", GOOD.with_log(batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK, anomaly="stale-marker-accepted"),
        Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK, anomaly="committed-record-lost"),
        Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK, anomaly="next-transaction-ended"),
        Failpoint(rules=STRANGE_COORDINATOR_EPOCHS_TOLD, anomaly="generation-not-kept"),
        Liar(
            api="DescribeTransactions",
            fields={"transaction_state": "PrepareCommit"},
            anomaly="newer-coordinator-hindered",
        ),
    ),
)
