"""What a read_committed stream must have done: reached the high watermark, and delivered each committed record once."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Set

from harness.contract.expect import Observation, finding, witness
from harness.evidence.requirement_evidence import LogTruth, NotSeen, Sample, Step
from harness.evidence.stream_account import StreamAccount


def reached(account: StreamAccount, last: Sample, *late: Step) -> Observation:
    """The stream came to the high watermark; where it did not, the last stable offset is seen to be what stops it.

    The stream's own ``latestOffset`` cannot tell: under read_committed it is the last stable offset.

    :param last: High watermark and last stable offset when the wait was over.
    :param late: Steps that may have stopped it.
    :raises NotSeen: When the stream is behind, but the broker does not hold it up: a slow reader accuses no broker.
    """
    place = f"{last.partition}: the stream ends at {account.end_offset}, high watermark {account.wanted}"
    if account.end_offset >= account.wanted:
        return witness(place, *late)
    if last.last_stable_offset >= account.wanted:
        raise NotSeen(f"{place}, and the last stable offset is {last.last_stable_offset}: the reader is slow")
    return finding("stuck-lso", f"{place}, last stable offset {last.last_stable_offset}", *late)


def delivered_once(
    account: StreamAccount, *, promised: Set[str], never: Mapping[str, Collection[str]], excused: Set[str] = frozenset()
) -> Iterator[Observation]:
    """Every promised value is delivered exactly once, and nothing else.

    :param promised: Values of acknowledged writes of committed transactions.
    :param never: For each anomaly, the values whose delivery is that anomaly.
    :param excused: Values that may be missing, because another finding says why.
    """
    times = Counter(account.delivered)
    for value in sorted(promised):
        if times[value] or value not in excused:
            yield _delivered(value, times[value])
    named = {value: anomaly for anomaly, values in never.items() for value in values}
    for value in sorted(times.keys() - promised):
        yield finding(named.get(value, "unknown-record-delivered"), f"{value!r} was delivered")


def _delivered(value: str, times: int) -> Observation:
    match times:
        case 0:
            return finding("committed-record-missing", f"{value!r} was not delivered")
        case 1:
            return witness(f"{value!r} was delivered once")
        case _:
            return finding("duplicate-delivery", f"{value!r} was delivered {times} times")


def out_of_reach(truth: LogTruth, account: StreamAccount) -> Set[str]:
    """The values of the log that lie at or behind the stream's end: their absence says no more than the end does."""
    return {value for batch in truth.batches if batch.base_offset >= account.end_offset for value in batch.values}
