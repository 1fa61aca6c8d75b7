"""Accepted evidence from a sound run: made small and stable, so that it can stand beside the requirement's file.

Evidence by hand drifts from what brokers answer; adopted evidence cannot. Producer ids become 7, 8, …; times become
ranks (their order stays, their distances do not), unless the check measures distances; and whatever the verdict does
not need is left out.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from functools import partial
from typing import Any, TypeVar, cast

from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError
from harness.contract.doctored import PRODUCER
from harness.contract.judge import judge
from harness.contract.requirement import Requirement
from harness.contract.verdict import Status
from harness.evidence.json_codec import to_plain
from harness.evidence.requirement_evidence import Batch, Evidence, Fault, GateStrike, LogTruth, Sample, Step

TICK_MS = 10.0
UNSTABLE = {"last_timestamp"}
"""Fields of rows that no check may read: they are others in every run."""
Item = TypeVar("Item")
Same = Callable[[Evidence], bool]


def adopt(requirement: Requirement[Any], evidence: Evidence) -> Evidence:
    """The smallest normalised evidence that HOLDS with as many witnesses as ``evidence``.

    :raises UserError: When the verdict on ``evidence`` is not HOLDS.
    """
    verdict = judge(requirement, evidence)
    if verdict.status != Status.HOLDS:
        raise UserError(
            f"{requirement.id} is {verdict.status} there; only what HOLDS can be adopted", exit=ExitCode.USAGE
        )

    def same(candidate: Evidence) -> bool:
        fresh = judge(requirement, candidate)
        return (fresh.status, fresh.witnesses) == (Status.HOLDS, verdict.witnesses)

    plain = renumbered(evidence)
    small = reduced(next(filter(same, (ranked(plain), plain, evidence))), same)
    return next(filter(same, (ranked(small), small)))


def renumbered(evidence: Evidence) -> Evidence:
    """Producer ids as 7, 8, … in order of appearance, also as words of names; exchanges and tries as by hand."""
    ids = [batch.producer_id for log in evidence.logs.values() for batch in log.batches]
    ids += [value for step in evidence.steps for value in (*_ids(dict(step.request)), *_ids(dict(step.fields)))]
    known = {found: PRODUCER + rank for rank, found in enumerate(dict.fromkeys(i for i in ids if i >= 0))}
    names = {str(found): str(short) for found, short in known.items()}
    return replace(
        evidence,
        steps=tuple(_renumbered_step(step, known, names) for step in evidence.steps),
        logs={alias: _renumbered_log(log, known) for alias, log in evidence.logs.items()},
        facts={_words(name, names): _with_ids(value, known) for name, value in evidence.facts.items()},
    )


def ranked(evidence: Evidence) -> Evidence:
    """Every moment as its rank times ten, and each time on a held link as one such tick."""
    moments = {step.sent for step in evidence.steps} | {step.answered or step.sent for step in evidence.steps}
    moments |= {moment for fault in evidence.faults for moment in (fault.started, fault.ended)}
    moments |= {moment for fault in evidence.faults for strike in fault.strikes for moment in _times(strike).values()}
    moments |= {sample.at for sample in evidence.samples}
    tick = {moment: rank * TICK_MS for rank, moment in enumerate(sorted(moments))}
    return replace(
        evidence,
        steps=tuple(_ranked_step(step, tick) for step in evidence.steps),
        faults=tuple(_ranked_fault(fault, tick) for fault in evidence.faults),
        samples=tuple(replace(one, at=tick[one.at]) for one in evidence.samples),
    )


def reduced(evidence: Evidence, same: Same) -> Evidence:
    """Without each step, fault, sample, log, fact and field of a step that the verdict does not need."""
    evidence = _least(evidence, evidence.steps, lambda e, kept: replace(e, steps=tuple(kept)), same)
    evidence = _least(evidence, evidence.faults, lambda e, kept: replace(e, faults=tuple(kept)), same)
    evidence = _least(evidence, evidence.samples, lambda e, kept: replace(e, samples=tuple(kept)), same)
    evidence = _least(evidence, evidence.logs.items(), lambda e, kept: replace(e, logs=dict(kept)), same)
    evidence = _least(evidence, evidence.facts.items(), lambda e, kept: replace(e, facts=dict(kept)), same)
    for number, step in enumerate(evidence.steps):
        evidence = _least(evidence, step.fields.items(), partial(_with, number, "fields"), same)
        evidence = _least(evidence, step.request.items(), partial(_with, number, "request"), same)
    return evidence


def document(evidence: Evidence) -> str:
    """The evidence as JSON, a step, fault, sample or log a line; what has its default value is left out."""
    parts = []
    for name, value in _short(evidence).items():
        if isinstance(value, list):
            parts.append(f' "{name}": [\n  ' + ",\n  ".join(map(_line, value)) + "\n ]")
        else:
            rows = [f"{json.dumps(key, ensure_ascii=False)}: {_line(item)}" for key, item in value.items()]
            parts.append(f' "{name}": {{\n  ' + ",\n  ".join(rows) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _least(
    evidence: Evidence, items: Iterable[Item], rebuilt: Callable[[Evidence, Sequence[Item]], Evidence], same: Same
) -> Evidence:
    """Leave out each item without which the verdict is the same, the last first."""
    kept = list(items)
    for index in reversed(range(len(kept))):
        fewer = kept[:index] + kept[index + 1 :]
        if same(rebuilt(evidence, fewer)):
            kept = fewer
    return rebuilt(evidence, kept)


def _with(number: int, part: str, evidence: Evidence, kept: Sequence[tuple[str, Json]]) -> Evidence:
    steps = list(evidence.steps)
    steps[number] = replace(steps[number], **{part: dict(kept)})  # type: ignore[arg-type]
    return replace(evidence, steps=tuple(steps))


def _ids(value: Json, name: str = "") -> list[int]:
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in _ids(item, key)]
    if isinstance(value, list):
        return [found for item in value for found in _ids(item, name)]
    return [value] if name == "producer_id" and isinstance(value, int) else []


def _with_ids(value: Json, known: Mapping[int, int], name: str = "") -> Json:
    if isinstance(value, dict):
        return {key: _with_ids(item, known, key) for key, item in value.items() if key not in UNSTABLE}
    if isinstance(value, list):
        return [_with_ids(item, known, name) for item in value]
    return known.get(value, value) if name == "producer_id" and isinstance(value, int) else value


def _words(name: str, names: Mapping[str, str]) -> str:
    return " ".join(names.get(word, word) for word in name.split(" "))


def _renumbered_step(step: Step, known: Mapping[int, int], names: Mapping[str, str]) -> Step:
    request = {name: _with_ids(value, known, name) for name, value in step.request.items()}
    answer = {name: _with_ids(value, known, name) for name, value in step.fields.items()}
    name = _words(step.name, names)
    return replace(step, name=name, request=request, fields=answer, exchange=0, tries=1, waited_ms=0.0, actor="victim")


def _renumbered_log(log: LogTruth, known: Mapping[int, int]) -> LogTruth:
    ids = (known.get(batch.producer_id, batch.producer_id) for batch in log.batches)
    batches = tuple(replace(batch, producer_id=found) for batch, found in zip(log.batches, ids, strict=True))
    return replace(log, batches=batches)


def _ranked_step(step: Step, tick: Mapping[float, float]) -> Step:
    answered = None if step.answered is None else tick[step.answered]
    return replace(step, sent=tick[step.sent], answered=answered, held=TICK_MS if step.held > 0 else 0.0)


def _ranked_fault(fault: Fault, tick: Mapping[float, float]) -> Fault:
    strikes = (replace(one, **_mapped(_times(one), tick)) for one in fault.strikes)
    return replace(fault, started=tick[fault.started], ended=tick[fault.ended], strikes=tuple(strikes))


def _mapped(moments: Mapping[str, float], tick: Mapping[float, float]) -> dict[str, Any]:
    return {name: tick[moment] for name, moment in moments.items()}


def _times(strike: GateStrike) -> dict[str, Any]:
    """Its moments by their names; not those that never came."""
    moments = {"at": strike.at, "delivered": strike.delivered, "answered": strike.answered}
    return {name: moment for name, moment in moments.items() if moment is not None}


def _short(value: Step | Fault | GateStrike | Sample | Batch | LogTruth | Evidence) -> dict[str, Any]:
    """The fields that differ from their default."""
    short: dict[str, Any] = {}
    plain = cast(dict[str, Any], to_plain(value))
    for field in fields(value):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if (item := getattr(value, field.name)) != default:
            short[field.name] = _shortened(item, plain[field.name])
    return short


def _shortened(item: object, plain: Any) -> Any:
    if isinstance(item, tuple) and item and not isinstance(item[0], str):
        return [_short(one) for one in item]
    if isinstance(item, Mapping):
        return {key: _short(one) if isinstance(one, LogTruth) else plain[key] for key, one in item.items()}
    return plain


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
