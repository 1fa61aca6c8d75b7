"""Offsets as evidence tells them: from where the requirement began, on a partition that others wrote to before.

The one place where they are changed. A fresh partition begins at 0 and nothing changes; a partition of a given topic
begins at its end when it was taken, so that a check reads the same on both.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeAlias, cast

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Batch, LogTruth, Sample, Step
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.log.produce import Produce
from harness.wire.requests.transactions.describe_producers import DescribeProducers

Row: TypeAlias = Mapping[str, Json]


def told_step(step: Step, starts: Mapping[str, int], foreign: Mapping[str, Collection[int]] | None = None) -> Step:
    """The step with the offsets of its answer, and without the producers that were there before.

    :param starts: Where the requirement began, by partition (``topic-index``); one that is not there began at 0.
    :param foreign: The ids of producers that a leader knew then, by partition.
    """
    if not any(starts.values()):
        return step
    known, asked = foreign or {}, str(step.request.get("partition"))
    own = starts.get(asked, 0)
    match step.api:
        case Produce.api:
            return replace(step, fields=_produced(step, starts))
        case ListOffsets.api:
            return replace(step, fields=_less(step.fields, own, "offset"))
        case DescribeProducers.api if isinstance(parts := step.fields.get("partitions"), dict):
            each = {
                name: _listed(cast(Row, own), starts.get(name, 0), known.get(name, ())) for name, own in parts.items()
            }
            return replace(step, fields={**step.fields, "partitions": cast(Json, each)})
        case DescribeProducers.api:
            return replace(step, fields=_listed(step.fields, own, known.get(asked, ())))
    return step


def _listed(answer: Row, start: int, before: Collection[int]) -> Row:
    """One partition's producers, without those that were there before."""
    rows = answer.get("producers")
    shown = [cast(Row, row) for row in rows] if isinstance(rows, list) else []
    new = [_less(row, start, "current_txn_start_offset") for row in shown if row.get("producer_id") not in before]
    return answer if rows is None else {**answer, "producers": cast(Json, new)}


def told_sample(sample: Sample, start: int) -> Sample:
    """The sample's two offsets."""
    high_watermark, stable = sample.high_watermark - start, sample.last_stable_offset - start
    return replace(sample, high_watermark=high_watermark, last_stable_offset=stable)


def told_log(truth: LogTruth, start: int) -> LogTruth:
    """The log's offsets and its batches'; what lies before ``start`` is not among them."""
    return replace(
        truth,
        batches=tuple(_batch(batch, start) for batch in truth.batches if batch.last_offset >= start),
        high_watermark=truth.high_watermark - start,
        last_stable_offset=truth.last_stable_offset - start,
    )


def _batch(batch: Batch, start: int) -> Batch:
    return replace(batch, base_offset=batch.base_offset - start, last_offset=batch.last_offset - start)


def _produced(step: Step, starts: Mapping[str, int]) -> Mapping[str, Json]:
    """The first partition's offsets stand beside those by partition."""
    partitions = step.fields.get("partitions")
    if not isinstance(partitions, dict):
        return step.fields
    each = {
        name: _less(cast(Mapping[str, Json], own), starts.get(name, 0), "base_offset")
        for name, own in partitions.items()
    }
    first = starts.get(next(iter(partitions), ""), 0)
    return {**_less(step.fields, first, "base_offset"), "partitions": cast(Json, each)}


def _less(fields: Mapping[str, Json], start: int, *names: str) -> dict[str, Json]:
    """These fields less ``start``; -1 says that there is no offset and stays."""
    told = {name: value - start for name in names if isinstance(value := fields.get(name), int) and value >= 0}
    return {**fields, **told}
