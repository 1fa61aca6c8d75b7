"""KIP360-INIT-19: the timeout that was given last is in force, whether it is longer than the one before or shorter.

Two producers start twice, one with a long and then a short timeout, the other the other way round, and open a
transaction. The coordinator shows the last one of each; the first transaction is aborted, and the second, which was
begun before it, is still open then and commits. KIP-98 has the timeout given with each start.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.transaction_metadata_rules import TIMEOUT_OF_THE_FIRST_START
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, sample, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab

LONG_MS, SHORT_MS = 60_000, 600
ABORTED_SECONDS = 20.0
"""The short one, Kafka's longest interval between two looks for such transactions, and room."""


def stimulus(lab: Lab) -> None:
    """On two partitions, so that one transaction does not wait for the other."""
    first, second = lab.partition("P1"), lab.partition("P2")
    longer = lab.producer(timeout_ms=SHORT_MS)
    shorter = lab.producer("rival", timeout_ms=LONG_MS)
    longer.init(timeout_ms=LONG_MS)
    shorter.init(timeout_ms=SHORT_MS)
    for txn, partition, name in ((longer, first, "longer"), (shorter, second, "shorter")):
        txn.add(partition)
        txn.produce(partition, as_=f"{name}: write")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"{name}: open")
    lab.reached(shorter, "CompleteAbort", as_="shorter: over", timeout_seconds=ABORTED_SECONDS)
    lab.sample("the longer one", first)
    longer.end(commit=True, as_="longer: commit")


def check(seen: Evidence) -> Observations:
    """The last timeouts are shown; the short one has run out, and the long one has not."""
    for name, timeout_ms in (("longer", LONG_MS), ("shorter", SHORT_MS)):
        yield expect.shows(seen[f"{name}: open"], timeout_ms=timeout_ms, otherwise="wrong-timeout-shown")
    yield expect.over(seen["shorter: over"], otherwise="overdue-not-aborted")
    yield expect.unstable(seen.sample("the longer one"), otherwise="aborted-too-early")
    yield expect.accepted(seen["longer: commit"], otherwise="aborted-too-early")
    yield from expect.sound(seen, "P1", seen["longer: write"].written())
    yield from expect.sound(seen, "P2", seen["shorter: write"].written(), committed=())


GOOD = evidence(
    written("longer: write", 11, "a"),
    described("longer: open", "Ongoing", epoch=1, partitions=("P1",)),
    written("shorter: write", 11, "b", producer_id=8, to="P2"),
    described("shorter: open", "Ongoing", epoch=1, producer_id=8, partitions=("P2",)),
    described("shorter: over", "CompleteAbort", epoch=2, producer_id=8),
    ended("longer: commit", version=4, epoch=1),
    logs={"P1": log(data(7, 1, "a"), commit(7, 1)), "P2": log(data(8, 1, "b"), abort(8, 2))},
    samples=(sample("the longer one", "P1", 1, 0),),
)
GOOD = GOOD.with_step("longer: open", timeout_ms=LONG_MS).with_step("shorter: open", timeout_ms=SHORT_MS)

REQUIREMENT = Requirement(
    id="KIP360-INIT-19",
    source=Source(360, "Public Interfaces: InitProducerIdRequest, TransactionTimeoutMs"),
    statement="The timeout that was given last is in force.",
    needs=(Offers("InitProducerId", 2),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wrong-timeout-shown", GOOD.with_step("longer: open", timeout_ms=SHORT_MS)),
        Refusal("overdue-not-aborted", GOOD.with_step("shorter: over", state="Ongoing")),
        Refusal("aborted-too-early", GOOD.with_sample("the longer one", last_stable_offset=1)),
        Refusal("aborted-too-early", GOOD.with_step("longer: commit", error=KafkaError.PRODUCER_FENCED)),
        *unsound(GOOD, "P1"),
        *unsound(GOOD, "P2"),
    ),
    refuted_by=(
        Failpoint(rules=TIMEOUT_OF_THE_FIRST_START, anomaly="wrong-timeout-shown"),
        Failpoint(rules=TIMEOUT_OF_THE_FIRST_START, anomaly="overdue-not-aborted"),
        Failpoint(rules=TIMEOUT_OF_THE_FIRST_START, anomaly="aborted-too-early"),
    ),
)
