"""What a check yields: a witness for each situation it really examined, a finding for each broken promise.

A check is a generator over these functions, so that it reads as a list of expectations. A function that is yielded
gives one observation; :func:`sound` gives several (``yield from``). A check that yields none has examined nothing, and
its verdict is NOT_EXERCISED. Every expectation names its anomaly by ``otherwise``, or has a name of its own for it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness.base.json_value import Json
from harness.contract.level import Level
from harness.evidence import transaction_states
from harness.evidence.requirement_evidence import Batch, Evidence, Fault, NotSeen, Sample, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A situation that was examined and found as promised."""

    what: str
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A broken promise: the anomaly's name, a sentence with what was seen, and the steps that show it.

    :param level: MUST where a KIP promises what was not kept; see :func:`habit`.
    """

    anomaly: str
    detail: str
    steps: tuple[str, ...] = ()
    level: Level = Level.MUST


@dataclass(frozen=True, slots=True, kw_only=True)
class NotLooked:
    """A look that was not offered, not answered, or refused for the moment: neither a witness nor a finding."""

    what: str
    api: str = ""  # whose answer it would have been, where it is one of a broker


Observation: TypeAlias = Witness | Finding | NotLooked
Observations: TypeAlias = Iterator[Observation]
MarkerRow: TypeAlias = tuple[str] | tuple[str, int] | tuple[str, int, int]
"""Type of a marker; type and producer epoch; or type, producer epoch and producer id."""
GOING_ON = transaction_states.GOING_ON
"""States of a transaction that has not ended yet, for requirements."""


def witness(what: str, *steps: Step) -> Witness:
    """A situation examined and found as promised."""
    return Witness(what=what, steps=tuple(step.name for step in steps))


def finding(anomaly: str, detail: str, *steps: Step) -> Finding:
    """A broken promise that the steps show."""
    return Finding(anomaly=anomaly, detail=detail, steps=tuple(step.name for step in steps))


def habit(observation: Observation, level: Level = Level.SHOULD) -> Observation:
    """The same, where no KIP promises it and only Kafka does it so: a finding of a lower level."""
    return replace(observation, level=level) if isinstance(observation, Finding) else observation


def refused(
    step: Step,
    *codes: int,
    otherwise: str,
    message: str | None = None,
    code: Level = Level.MUST,
    also: Collection[int] = (),
) -> Observation:
    """The step must be refused with one of ``codes`` (and, where given, an error message that ends like this one).

    Success is the anomaly ``otherwise``; no answer is ``unanswered``; another code is ``wrong-error``; no message where
    one is expected is ``no-message``, and another text, which is Kafka's habit, ``wrong-message``.

    :param code: Who promises the code: SHOULD where the KIP promises the refusal and Kafka chose the code.
    :param also: Codes that the KIP allows beside Kafka's own ``codes``: each is a ``wrong-error`` of level SHOULD.
    """
    if step.error == 0:
        return finding(otherwise, f"{_said(step)}; expected {_names(step, codes)}", step)
    if step.error is None:
        return finding("unanswered", f"{_said(step)}; expected {_names(step, codes)}", step)
    if step.error not in codes:
        level = Level.SHOULD if step.error in also else code
        return habit(finding("wrong-error", f"{_said(step)}; expected {_names(step, codes)}", step), level)
    return witness(_said(step), step) if message is None else explained(step, message)


def explained(step: Step, message: str) -> Observation:
    """The refusal has an error message that ends like this one: none is ``no-message``, another ``wrong-message``."""
    said = str(step.fields.get("error_message") or "")
    if not said:
        return finding("no-message", f"{_said(step)} without a message; expected {message!r}", step)
    if not said.endswith(message):
        return habit(finding("wrong-message", f"{_said(step)} with message {said!r}; expected {message!r}", step))
    return witness(f"{_said(step)} with the message {said!r}", step)


def accepted(step: Step, *, otherwise: str) -> Observation:
    """The step must succeed with error 0; anything else is the anomaly ``otherwise``."""
    if step.error == 0:
        return witness(_said(step), step)
    return finding(otherwise, f"{_said(step)}; expected success", step)


def agree(what: str, seen: object, promised: object, *steps: Step, otherwise: str) -> Observation:
    """The value seen must equal the value promised; else the anomaly ``otherwise``."""
    if seen == promised:
        return witness(f"{what} is {promised!r}", *steps)
    return finding(otherwise, f"{what} is {seen!r}; expected {promised!r}", *steps)


def shows(step: Step, *, otherwise: str, **promised: Json) -> Observation:
    """The named fields of the answer must have these values; else the anomaly ``otherwise``."""
    if not step.looked:
        return NotLooked(what=f"{step.name}: {step.api}", api=step.api)
    seen = {name: step.fields.get(name) for name in promised}
    return agree(f"{step.name}: {step.call} shows", seen, promised, step, otherwise=otherwise)


def unless(kept: bool, what: str, *steps: Step, otherwise: str) -> Observation:
    """The sentence ``what`` must be true of the evidence; else the anomaly ``otherwise``."""
    return witness(what, *steps) if kept else finding(otherwise, f"not so: {what}", *steps)


def taken(seen: Evidence, name: str) -> tuple[Step, ...]:
    """Every step of that name, in order of sending; () where the stimulus had no power to take it on this target."""
    return tuple(step for step in seen.steps if step.name == name)


def row(step: Step, field: str, **keys: Json) -> Mapping[str, Json]:
    """The row of the answer's list ``field`` that has these keys (a producer, a transaction); {} when there is none."""
    return next((one for one in rows(step, field) if keys.items() <= one.items()), {})


def rows(step: Step, field: str) -> tuple[Mapping[str, Json], ...]:
    """The rows of the answer's list ``field``, in the broker's order; () where there is none."""
    listed = step.fields.get(field)
    return tuple(one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))


def writes(seen: Evidence, partition: str, *names: str) -> list[Step]:
    """The steps of these names that wrote to the partition alone, in order of sending within each name."""
    steps = (step for name in names for step in seen.all(name))
    return [step for step in steps if step.request.get("partitions") == [partition]]


def values(seen: Evidence, *names: str, at: str | None = None) -> tuple[str, ...]:
    """What the accepted writes of these names carried (those to the partition ``at`` alone), in order of sending."""
    asked = (step for step in seen.steps if step.name in names and step.error == 0)
    wanted = (step for step in asked if at is None or step.request.get("partitions") == [at])
    return tuple(value for step in wanted for value in step.written())


def keeps(
    step: Step,
    *,
    state: str | None = None,
    epoch: int | None = None,
    producer_id: int | None = None,
    partitions: Sequence[str] | None = None,
    otherwise: str = "wrong-state-kept",
) -> Observation:
    """DescribeTransactions: the coordinator keeps this of the transactional id; what is None is not compared.

    :param partitions: In any order.
    """
    promised: dict[str, Json] = {"state": state, "producer_epoch": epoch, "producer_id": producer_id}
    promised["partitions"] = None if partitions is None else _in_order(list(partitions))
    if not step.told:
        return NotLooked(what=f"{step.name}: {step.api}", api=step.api)
    step = replace(step, fields={name: _in_order(value) for name, value in step.fields.items()})
    return shows(step, otherwise=otherwise, **{name: value for name, value in promised.items() if value is not None})


def over(step: Step, *, otherwise: str = "transaction-not-over") -> Observation:
    """DescribeTransactions: no transaction of the id is going on, by whatever name the broker calls that state.

    KIP-664 names one state, ``Ongoing``; which completed ones a broker tells apart is its own affair.
    """
    if not step.told:
        return NotLooked(what=f"{step.name}: {step.api}", api=step.api)
    what = f"{step.name}: no transaction is going on in the state {step.fields.get('state')!r}"
    return unless(step.fields.get("state") not in GOING_ON, what, step, otherwise=otherwise)


def unchanged(before: Step, after: Step, *fields: str, otherwise: str) -> Observation:
    """Two looks at the same thing: these fields of the answer are the same in both, lists in any order."""
    if not (before.told and after.told):
        return NotLooked(what=f"{before.name}: {before.api}", api=before.api)
    before, after = (replace(one, fields={k: _in_order(v) for k, v in one.fields.items()}) for one in (before, after))
    return shows(after, otherwise=otherwise, **{name: before.fields.get(name) for name in fields})


def identity(step: Step, producer_id: int, epoch: int, *, otherwise: str = "wrong-identity-returned") -> Observation:
    """The answer (of EndTxn v5, of InitProducerId) carries this producer id and epoch; (-1, -1) is none."""
    return shows(step, producer_id=producer_id, producer_epoch=epoch, otherwise=otherwise)


def producer(step: Step, producer_id: int, *, otherwise: str = "wrong-producer-state", **promised: Json) -> Observation:
    """DescribeProducers: the leader keeps this producer, with these fields (``producer_epoch=1``, …)."""
    if not step.told:
        return NotLooked(what=f"{step.name}: {step.api}", api=step.api)
    kept = row(step, "producers", producer_id=producer_id)
    seen = {name: kept.get(name) for name in promised}
    return agree(f"{step.name}: producer {producer_id} shows", seen, promised, step, otherwise=otherwise)


def open_since(step: Step, producer_id: int, offset: int, *, otherwise: str = "wrong-start-offset") -> Observation:
    """DescribeProducers: the producer's transaction is open since ``offset``; -1: it is known and none is open."""
    return producer(step, producer_id, current_txn_start_offset=offset, otherwise=otherwise)


def fenced(step: Step, producer_id: int, epoch: int, *, otherwise: str = "leader-not-fencing") -> Observation:
    """DescribeProducers: the leader keeps the producer in this epoch, with no open transaction."""
    return producer(step, producer_id, producer_epoch=epoch, current_txn_start_offset=-1, otherwise=otherwise)


def not_open(step: Step, producer_id: int, *, otherwise: str = "transaction-opened") -> Observation:
    """DescribeProducers: the leader knows of no open transaction of the producer; it need not know the producer."""
    if not step.told:
        return NotLooked(what=f"{step.name}: {step.api}", api=step.api)
    since = row(step, "producers", producer_id=producer_id).get("current_txn_start_offset", -1)
    return agree(f"{step.name}: start of an open transaction of {producer_id}", since, -1, step, otherwise=otherwise)


def stable(sample: Sample, *steps: Step, otherwise: str = "stuck-lso") -> Observation:
    """Nothing was open at that moment: the last stable offset was the high watermark."""
    what = f"last stable offset of {sample.partition}, {sample.name}"
    return agree(what, sample.last_stable_offset, sample.high_watermark, *steps, otherwise=otherwise)


def unstable(sample: Sample, *steps: Step, otherwise: str = "transaction-ended") -> Observation:
    """A transaction was still open at that moment: the last stable offset was below the high watermark."""
    kept = sample.last_stable_offset < sample.high_watermark
    return unless(kept, f"a transaction is open on {sample.partition}, {sample.name}", *steps, otherwise=otherwise)


def sound(
    seen: Evidence,
    partition: str = "P1",
    values: Sequence[str] | None = None,
    *,
    committed: Sequence[str] | None = None,
    markers: Sequence[MarkerRow] | None = None,
    appended: str = "wrong-records-in-log",
    shown: str = "wrong-records-shown",
    stuck: str = "stuck-lso",
    marked: str = "wrong-markers",
) -> Observations:
    """The drained log is as promised; the last four parameters are the anomalies.

    :param values: What the raw log holds, whether committed or not; not compared when None.
    :param committed: What a read_committed reader is shown; without it, ``values``, else all that the log holds.
    :param markers: Every control batch, in order; not compared when None.
    """
    truth = seen.log(partition)
    if values is not None:
        yield agree(f"values in the log of {partition}", truth.values(), tuple(values), otherwise=appended)
    promised = committed if committed is not None else truth.values() if values is None else values
    yield agree(f"committed values of {partition}", truth.committed, tuple(promised), otherwise=shown)
    yield agree(f"last stable offset of {partition}", truth.last_stable_offset, truth.high_watermark, otherwise=stuck)
    if markers is not None:
        yield marks(seen, partition, *markers, otherwise=marked)


def marks(seen: Evidence, partition: str, *promised: MarkerRow, otherwise: str = "wrong-markers") -> Observation:
    """The control batches of the drained log are these, in this order."""
    found = seen.log(partition).markers()
    columns = len(promised[0]) if promised else 2
    return agree(
        f"markers in {partition}", tuple(_marker(one)[:columns] for one in found), promised, otherwise=otherwise
    )


def _marker(batch: Batch) -> tuple[str, int, int]:
    return str(batch.control), batch.producer_epoch, batch.producer_id


def struck(seen: Evidence, late: Step, *, by: str, after: Step | None = None) -> Fault:
    """The hold called ``by`` really held ``late``: sent into the window, answered only after the release.

    :param after: The step that ``late`` had to come after; it was answered before the release.
    :raises NotSeen: When it did not; a fault that did not strike proves nothing, so the verdict is NOT_EXERCISED.
    """
    hold = gated(seen, by) if seen.fault(by).kind == "gate" else seen.fault(by)
    if (late.held <= 0 and hold.kind == "hold") or late.sent > hold.ended:
        raise NotSeen(f"{late.name!r} was not held by {by!r}")
    if late.answered_before(hold.ended):
        raise NotSeen(f"{late.name!r} was answered while {by!r} was still held")
    if after is not None and (after.answered is None or after.answered > hold.ended):
        raise NotSeen(f"{after.name!r} was not over when {by!r} was released")
    return hold


def gated(seen: Evidence, name: str, *, at_least: int = 1) -> Fault:
    """The gate of that name really took so many requests.

    :raises NotSeen: When it did not.
    """
    gate = seen.fault(name)
    if gate.struck < at_least:
        raise NotSeen(f"{name!r} was to {gate.action} {at_least} requests and took {gate.struck}")
    return gate


def interrupted(seen: Evidence, step: Step, *, by: str) -> Fault:
    """The cut called ``by`` really stopped what ``step`` waited for: no answer came before it.

    :raises NotSeen: When it was answered before the cut.
    """
    cut = seen.fault(by)
    if step.answered_before(cut.started):
        raise NotSeen(f"{step.name!r} was answered before {by!r}")
    return cut


def prepared(seen: Evidence, name: str, *, end: Step | None = None) -> Sample:
    """The markers were held under this name: the transaction was still open when they were released.

    :param end: The end that was to prepare it; one that was refused is a finding of its own and is not held against.
    :raises NotSeen: When the hold was not noted, or nothing was open any more: then nothing was examined.
    """
    seen.fault(name)
    sample = seen.sample(name)
    ended = sample.last_stable_offset >= sample.high_watermark
    if ended and (end is None or end.error == 0):
        raise NotSeen(f"no transaction was open on {sample.partition} when {name!r} was released")
    return sample


def _in_order(value: Json) -> Json:
    return [*sorted(map(str, value))] if isinstance(value, list) else value


def _said(step: Step) -> str:
    answer = "gave no answer" if step.error is None else f"answered {step.outcome(step.error)}"
    return f"{step.name}: {step.call} {answer}"


def _names(step: Step, codes: tuple[int, ...]) -> str:
    return " or ".join(map(step.outcome, codes))
