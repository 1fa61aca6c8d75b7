"""KIP588-TIMEOUT-02: a transaction's time counts from its first partition, not from InitProducerId or a later write.

One producer is idle for longer than its timeout before it begins; it keeps its epoch, has all of its time from then on,
and commits. Another adds one partition after the other, and writes all the time: that keeps nothing alive, it is
aborted while its last partition was added less than a timeout ago.

No KIP says from when the time counts; Kafka's documentation of ``transaction.timeout.ms`` does: «The start of the
transaction is set at the time that the first partition is added to it.» So this is a SHOULD.
"""

from dataclasses import replace

from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    NotSeen,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.coordinator_rules import NO_TIMEOUT
from harness.contract.byteman.transaction_metadata_rules import TIME_COUNTS_FROM_THE_LAST_CHANGE
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.timeouts import cleanup_ms

TIMEOUT_MS = 2_000
PARTS = 4
"""Partitions, added at equal intervals; the last one just before the timeout."""
STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """The busy one writes until it is refused, or for two timeouts; then the idle one begins, waits, and commits."""
    partitions, last = [lab.partition(f"P{number}") for number in range(1, PARTS + 1)], lab.partition("P9")
    interval = cleanup_ms(lab, lab.producer("victim").coordinator)
    timeout_ms = max(TIMEOUT_MS, 3 * interval)
    idle = lab.producer("rival", timeout_ms=timeout_ms)
    lab.note("timeout", timeout_ms)
    busy = lab.producer("victim", timeout_ms=timeout_ms)
    _keep_busy(lab, busy, partitions, timeout_ms)
    lab.completed(*partitions)
    lab.reached(busy, "CompleteAbort", as_="busy one")
    began = lab.now()
    idle.add(last, as_="first add of the idle one")
    idle.produce(last, as_="write of the idle one")
    lab.patience.fresh().until(
        lambda: lab.now() - began > 2 * interval, kinds=("cleanup",), timeout_seconds=timeout_ms / 1000
    )
    lab.observer.transaction(idle.transactional_id, idle.coordinator, as_="idle one")
    idle.end(commit=True, as_="commit of the idle one")


def _keep_busy(lab: Lab, busy: Producer, partitions: list[Partition], timeout_ms: int) -> None:
    began, rest = lab.now(), partitions[1:]
    busy.add(partitions[0], as_="add")
    while lab.now() - began < 2 * timeout_ms:
        due = (len(partitions) - len(rest)) * 0.9 * timeout_ms / (len(partitions) - 1)
        if rest and lab.now() - began > due:
            busy.add(rest.pop(0), as_="add")
        if busy.produce(partitions[0], as_="write", retry=()).error != 0:
            return
        lab.patience.pause(0.05)


def check(seen: Evidence) -> Observations:
    """The busy one is refused after its time and before that of its last partition; the idle one has its whole time."""
    timeout, first, writes = seen.fact("timeout"), seen.all("add")[0], seen.all("write")
    assert isinstance(timeout, int)
    added = [add for add in seen.all("add") if add.error == 0]
    refused = [write for write in writes if write.error != 0]
    if len(added) < 2 or not any(write.error == 0 for write in writes):
        raise NotSeen("the machine was too slow to write and to add a second partition within the timeout")
    yield expect.unless(bool(refused), "writes do not keep it alive", first, otherwise="kept-alive")
    for end in refused:
        yield expect.refused(end, STALE, code=Level.SHOULD, otherwise="kept-alive")
        lived, since_last = (end.answered or end.sent) - first.sent, end.sent - added[-1].sent
        yield expect.unless(lived >= timeout, "it had its time", first, end, otherwise="aborted-too-early")
        yield expect.unless(since_last < timeout, "its last partition did not count", end, otherwise="kept-alive")
    yield expect.over(seen["busy one"])
    begun = seen["first add of the idle one"]
    if begun.sent - first.sent < timeout:
        raise NotSeen("nobody was idle for a whole timeout")
    if seen["commit of the idle one"].sent - begun.sent >= timeout:
        raise NotSeen("the machine was too slow to commit within the timeout")
    yield expect.keeps(seen["idle one"], state="Ongoing", epoch=0, otherwise="idle-time-counted")
    for name in ("first add", "write", "commit"):
        yield expect.accepted(seen[f"{name} of the idle one"], otherwise="idle-time-counted")
    for alias in (f"P{number}" for number in range(1, PARTS + 1)):
        yield from expect.sound(seen, alias, committed=())
    yield from expect.sound(seen, "P9", expect.values(seen, "write of the idle one"))


def _with_last_write(error: int = STALE, later_ms: float = 0.0) -> Evidence:
    """Doctored: the one that was refused."""
    return replace(
        GOOD, steps=tuple(replace(s, error=error, sent=s.sent + later_ms) if s.error else s for s in GOOD.steps)
    )


GOOD = adopted(__file__, "KIP588-TIMEOUT-02")

REQUIREMENT = Requirement(
    id="KIP588-TIMEOUT-02",
    source=Source(588, "Proposed Changes: the coordinator times a transaction out"),
    statement="A transaction's time counts from its first added partition.",
    needs=(Offers("InitProducerId", 0), Offers("AddPartitionsToTxn", 0)),
    level=Level.SHOULD,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("kept-alive", GOOD.with_step("write", error=0)),
        Refusal("kept-alive", _with_last_write(later_ms=1.5 * TIMEOUT_MS)),
        Refusal("wrong-error", _with_last_write(error=KafkaError.INVALID_TXN_STATE)),
        Refusal("idle-time-counted", GOOD.with_step("idle one", state="CompleteAbort", producer_epoch=1)),
        Refusal("idle-time-counted", GOOD.with_step("commit of the idle one", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-not-over", GOOD.with_step("busy one", state="Ongoing")),
        Refusal("aborted-too-early", GOOD.with_fact("timeout", 5_000)),
        *unsound(GOOD, "P1", appended=None),
        *unsound(GOOD, "P9"),
    ),
    refuted_by=(
        Failpoint(rules=TIME_COUNTS_FROM_THE_LAST_CHANGE, anomaly="kept-alive"),
        Failpoint(rules=NO_TIMEOUT, anomaly="kept-alive"),
        Liar(api="EndTxn", error=KafkaError.PRODUCER_FENCED, at_most=1, anomaly="idle-time-counted"),
    ),
)
