"""What the races have in common: the coordinator's yes to a leader comes when the write's transaction is over."""

from collections.abc import Callable

from harness.contract import Evidence, KafkaError, Level, NotSeen, Observations, Refusal, TransactionResult, expect
from harness.contract.doctored import data, log, marker
from harness.lab import Lab, Partition, Producer

REFUSED = KafkaError.INVALID_TXN_STATE, KafkaError.INVALID_PRODUCER_EPOCH


def nothing() -> None:
    """Happens between the marker and the yes."""


def write_late(
    lab: Lab,
    case: str,
    *,
    writer: Producer,
    ender: Producer,
    partition: Partition,
    version: int,
    result: TransactionResult,
    meanwhile: Callable[[], object] = nothing,
) -> None:
    """The yes about the write is held at the gate until its transaction, ended over another lane, has its marker."""
    link = lab.link(partition.leader, writer.coordinator)
    with lab.gate(link, api="AddPartitionsToTxn", action="hold-response", name=case) as answer:
        late = writer.start_produce(partition, version=version)
        answer.wait()
        ender.end(commit=result.commits, as_=f"end {case}")
        lab.passed(partition, 0)
        lab.sample(f"marker {case}", partition)
        meanwhile()
        answer.release()
        late.answer(as_=f"late {case}")
    lab.sample(f"after {case}", partition)


def refused_without_a_trace(seen: Evidence, case: str) -> Observations:
    """The coordinator had said yes, the marker was written, and then the write is refused and leaves no trace."""
    end, late, marked = seen[f"end {case}"], seen[f"late {case}"], seen.sample(f"marker {case}")
    if expect.gated(seen, case).strikes[0].error != 0:
        raise NotSeen(f"the coordinator had refused {case}")
    yield expect.accepted(end, otherwise="end-refused")
    yield expect.agree("high watermark", marked.high_watermark, 1, end, otherwise="marker-not-written")
    expect.struck(seen, late, by=case, after=end)
    yield expect.refused(late, *REFUSED, otherwise="late-write-accepted", code=Level.SHOULD)
    yield expect.agree("values in the log", seen.log(case).values(), (), late, otherwise="late-record-appended")
    yield expect.stable(seen.sample(f"after {case}"), late, otherwise="hanging-transaction")


def refusals(
    good: Evidence, case: str, result: TransactionResult, *, marker_epoch: int, epoch: int
) -> tuple[Refusal, ...]:
    """Evidence in which each of these is not so. :param epoch: Of the late write."""
    appended = log(marker(result, marker_epoch), data(7, epoch, "late"))
    return (
        Refusal("end-refused", good.with_step(f"end {case}", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("marker-not-written", good.with_sample(f"marker {case}", high_watermark=0)),
        Refusal("late-write-accepted", good.with_step(f"late {case}", error=0)),
        Refusal("wrong-error", good.with_step(f"late {case}", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unanswered", good.with_step(f"late {case}", error=None)),
        Refusal("late-record-appended", good.with_log(case, appended)),
        Refusal("hanging-transaction", good.with_sample(f"after {case}", high_watermark=2)),
    )
