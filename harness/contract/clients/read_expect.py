"""What a consumer delivered, beside the log that it read.

The log is drained by the observer, raw and by the Java client's own algorithm (``CompletedFetch.nextFetchedRecord``):
so what is committed is known apart from the client under test. Where it stands in the log is known of every record
whose batch is whole.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.contract.clients.client_expect import told
from harness.contract.expect import NotLooked, Observation, Observations, finding, habit, witness
from harness.evidence.client_evidence import ClientCall, ReadRecord
from harness.evidence.requirement_evidence import Evidence, LogTruth, NotSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything that one application was given of one partition, up to the last poll of a name.

    :param expected: The values that it was to be given, in the order of the log.
    :param offsets: Of each value of the log whose offset is known.
    :param end: The last stable offset before the first poll of that name.
    """

    partition: str
    calls: Sequence[ClientCall]
    records: Sequence[ReadRecord]
    expected: Sequence[str]
    offsets: Mapping[str, int]
    end: int

    @property
    def words(self) -> str:
        return f"{self.calls[-1].application}, {self.partition}"


def read_committed(
    seen: Evidence, name: str = "read", partition: str = "P1", *, by: str = "reader", start: int = 0
) -> Observations:
    """Exactly the committed records below the last stable offset, in order; and the position after them.

    Anomalies: ``read-failed``, ``aborted-is-shown``, ``open-is-shown``, ``marker-is-shown``, ``read-twice``,
    ``not-read``, ``out-of-order``, ``wrong-offset``, ``position-behind``, ``position-beyond``,
    ``position-before-end`` (a habit: the Java client's position passes markers).

    :param start: Where the log began when it was read.
    """
    truth = seen.log(partition)
    reading = _reading(seen, name, partition, by, start, truth.committed)
    yield from _records(reading, truth)
    yield from _position(reading)


def read_everything(seen: Evidence, name: str = "read", partition: str = "P1", *, by: str = "raw") -> Observations:
    """Every record of the log but markers, in order, whatever became of its transaction; anomalies as above."""
    truth = seen.log(partition)
    reading = _reading(seen, name, partition, by, 0, truth.values(), end=truth.high_watermark)
    yield from _records(reading, truth)


def stable_offset(seen: Evidence, name: str, partition: str) -> int:
    """The last stable offset before the first poll of that name; :raises NotSeen: when it was not asked for."""
    for step in seen.all(name):
        if (step.api, step.request.get("partition")) == ("ListOffsets", partition):
            return step.answer_int("offset")
    raise NotSeen(f"the last stable offset of {partition} was not asked for as {name!r}")


def offsets(truth: LogTruth) -> dict[str, int]:
    """Where each value stands; those of a batch that was compacted are left out."""
    whole = [each for each in truth.batches if len(each.values) == each.last_offset - each.base_offset + 1]
    return {value: batch.base_offset + number for batch in whole for number, value in enumerate(batch.values)}


def _reading(
    seen: Evidence, name: str, partition: str, by: str, start: int, shown: Sequence[str], end: int | None = None
) -> Reading:
    calls = [call for call in seen.calls if call.application == by and call.call == "poll"]
    last = max((number for number, call in enumerate(calls) if call.name == name), default=-1)
    if last < 0:
        raise NotSeen(f"{by} was never polled as {name!r}")
    if len(set(seen.log(partition).values())) != len(seen.log(partition).values()):
        raise NotSeen(f"a value stands in {partition} more than once")
    known = offsets(seen.log(partition))
    stable = stable_offset(seen, name, partition) if end is None else end
    return Reading(
        partition=partition,
        calls=calls[: last + 1],
        records=[each for call in calls[: last + 1] for each in call.records if each.topic == partition],
        expected=[value for value in shown if start <= known.get(value, start) < stable],
        offsets=known,
        end=stable,
    )


def _records(reading: Reading, truth: LogTruth) -> Observations:
    wrong = [*_failed(reading), *_too_many(reading, truth), *_missing(reading), *_order(reading)]
    yield from wrong
    if not wrong:
        yield witness(f"{reading.words}: {len(reading.records)} records in order")


def _failed(reading: Reading) -> Iterator[Observation]:
    for call in reading.calls:
        if not call.done:
            yield finding("read-failed", told(call))


def _too_many(reading: Reading, truth: LogTruth) -> Iterator[Observation]:
    known = set(truth.values())
    for value, times in Counter(each.value for each in reading.records).items():
        offset = next(each.offset for each in reading.records if each.value == value)
        where = f"{reading.words}: {value!r} at {offset}"
        if times > 1:
            yield finding("read-twice", f"{where} was delivered {times} times")
        if value not in known:
            yield finding("marker-is-shown", f"{where} is no record of the log")
        elif value not in reading.expected:
            early = offset >= reading.end
            name, why = ("open-is-shown", "not stable") if early else ("aborted-is-shown", "aborted or deleted")
            yield finding(name, f"{where} is {why}; the last stable offset was {reading.end}")


def _missing(reading: Reading) -> Iterator[Observation]:
    given = {each.value for each in reading.records}
    if missing := [value for value in reading.expected if value not in given]:
        yield finding("not-read", f"{reading.words}: {', '.join(missing)} of {len(reading.expected)} not delivered")


def _order(reading: Reading) -> Iterator[Observation]:
    wrong = [each for each in reading.records if reading.offsets.get(each.value, each.offset) != each.offset]
    if wrong:
        true = reading.offsets[wrong[0].value]
        yield finding("wrong-offset", f"{reading.words}: {wrong[0].value!r} was told at {wrong[0].offset}, not {true}")
    places = {value: number for number, value in enumerate(reading.expected)}
    order = [places[each.value] for each in reading.records if each.value in places]
    if any(after < before for before, after in pairwise(order)):
        yield finding("out-of-order", f"{reading.words}: {[each.value for each in reading.records]}")


def _position(reading: Reading) -> Observations:
    found = [each.offset for each in reading.calls[-1].positions if each.topic == reading.partition]
    if not found:
        yield NotLooked(what=f"position of {reading.words}: the library tells none")
        return
    position, last = found[-1], max((each.offset for each in reading.records), default=-1)
    where = f"{reading.words}: position {position} after {last}, last stable offset {reading.end}"
    if position <= last:
        yield finding("position-behind", where)
    elif position > reading.end:
        yield finding("position-beyond", where)
    else:
        yield habit(witness(where) if position == reading.end else finding("position-before-end", where))
