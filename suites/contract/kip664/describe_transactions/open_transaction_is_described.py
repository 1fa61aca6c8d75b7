"""KIP664-DT-01: the coordinator describes an open transaction: state, timeout, start, producer id, epoch, partitions.

An operator compares it with what a leader keeps; a partition that is missing here makes a sound transaction look like a
hanging one (KIP-664, "Finding Hanging Transactions"), the partition of committed offsets included. All fields are the
KIP's; that the state is a name and not a number is Kafka's schema. The clock of the start is the coordinator's, so two
transactions of one coordinator are compared, and the start does not move when partitions are added.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import NO_PARTITIONS_TOLD, ONE_FOREIGN_ID_FAILS_ALL, told_without
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

TIMEOUT_MS = 43_210
LOOKS = ("begun", "whole")


def stimulus(lab: Lab) -> None:
    """A transaction over two partitions and a group's offsets, looked at twice; a younger one of its coordinator."""
    first, second, group = lab.partition("P1"), lab.partition("P2"), lab.group()
    txn = lab.producer(timeout_ms=TIMEOUT_MS)
    younger = lab.producer("rival", coordinator=txn.coordinator)
    lab.note("identity", [txn.producer_id, txn.epoch])
    lab.note("partitions of begun", [str(first)])
    lab.note("partitions of whole", [str(each) for each in (first, second, group.offsets) if each.known])
    txn.write(first)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="begun")
    txn.add_offsets(group)
    txn.commit_offset(group, first, 1)
    txn.write(second)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="whole")
    younger.write(second)
    lab.observer.transaction(younger.transactional_id, younger.coordinator, as_="younger")
    for each in (txn, younger):
        each.end(commit=True)
    lab.completed()


def check(seen: Evidence) -> Observations:
    """Each field as it was asked for; a start that stays and comes before the younger one's."""
    identity = seen.fact("identity")
    begun, younger = seen["begun"], seen["younger"]
    for name in LOOKS:
        look, partitions = seen[name], seen.fact(f"partitions of {name}")
        yield expect.accepted(look, otherwise="look-refused")
        yield expect.keeps(look, state="Ongoing", otherwise="wrong-state")
        kept = [look.fields.get("producer_id"), look.fields.get("producer_epoch")]
        yield expect.agree(f"identity, {name}", kept, identity, look, otherwise="wrong-identity")
        named = [*map(str, partitions)] if isinstance(partitions, list) else []
        yield expect.keeps(look, partitions=named, otherwise="wrong-partitions")
        yield expect.shows(look, timeout_ms=TIMEOUT_MS, otherwise="wrong-timeout")
    started = begun.answer_int("start_time_ms")
    yield expect.unless(started > 0, "it has a start", begun, otherwise="wrong-start-time")
    yield expect.unchanged(begun, seen["whole"], "start_time_ms", otherwise="start-time-moves")
    later = younger.answer_int("start_time_ms")
    yield expect.unless(started <= later, "the younger one began later", begun, younger, otherwise="wrong-start-time")
    for alias in ("P1", "P2"):
        yield from expect.sound(seen, alias, shown="committed-record-lost")


GOOD = adopted(__file__, "KIP664-DT-01")
_START = GOOD["begun"].answer_int("start_time_ms")

REQUIREMENT = Requirement(
    id="KIP664-DT-01",
    source=Source(664, "DescribeTransactions"),
    statement="The coordinator describes an open transaction with state, timeout, start, identity and all partitions.",
    needs=(Offers("DescribeTransactions", 0),),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("look-refused", GOOD.with_step("whole", error=KafkaError.NOT_COORDINATOR)),
        Refusal("wrong-state", GOOD.with_step("begun", state="Empty")),
        Refusal("wrong-identity", GOOD.with_step("whole", producer_epoch=1)),
        Refusal("wrong-partitions", GOOD.with_step("whole", partitions=["P1", "P2"])),
        Refusal("wrong-timeout", GOOD.with_step("begun", timeout_ms=60_000)),
        Refusal("wrong-start-time", GOOD.with_step("begun", start_time_ms=0).with_step("whole", start_time_ms=0)),
        Refusal("wrong-start-time", GOOD.with_step("younger", start_time_ms=_START - 1)),
        Refusal("start-time-moves", GOOD.with_step("whole", start_time_ms=_START + 1)),
        *unsound(GOOD, "P2", appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=told_without("TransactionState", '"Empty"'), anomaly="wrong-state"),
        Failpoint(rules=told_without("ProducerId", "-1"), anomaly="wrong-identity"),
        Failpoint(rules=told_without("TransactionTimeoutMs", "0"), anomaly="wrong-timeout"),
        Failpoint(rules=told_without("TransactionStartTimeMs", "-1"), anomaly="wrong-start-time"),
        Failpoint(rules=ONE_FOREIGN_ID_FAILS_ALL, anomaly="look-refused"),
        Failpoint(rules=NO_PARTITIONS_TOLD, anomaly="wrong-partitions"),
        Failpoint(
            rules=told_without("TransactionStartTimeMs", "java.lang.System.currentTimeMillis()"),
            anomaly="start-time-moves",
        ),
    ),
)
