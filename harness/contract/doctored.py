"""Evidence by hand, for a requirement's controls: short words for steps, logs and faults.

::

    GOOD = evidence(
        step("late produce", "Produce", 12, error=47, held=20),
        logs={"P1": log(data(7, 0, "a"), commit(7, 1))},
        faults=(held_link("late"),),
    )

Offsets, high watermark, last stable offset and the committed view of a log are worked out from its batches, as a sound
broker and a sound client would; ``with_log(…, last_stable_offset=0)`` doctors them.
"""

from collections.abc import Mapping
from dataclasses import replace

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Batch, Evidence, Fault, LogTruth, Marker, Sample, Step


def evidence(
    *steps: Step,
    logs: Mapping[str, LogTruth] | None = None,
    faults: tuple[Fault, ...] = (),
    samples: tuple[Sample, ...] = (),
    **facts: Json,
) -> Evidence:
    """Evidence with these steps; keyword arguments are facts."""
    return Evidence(steps=steps, logs=logs or {}, faults=faults, samples=samples, facts=facts)


def step(
    name: str,
    api: str,
    version: int,
    *,
    error: int | None = 0,
    held: float = 0.0,
    sent: float = 0.0,
    answered: float | None = 100.0,
    node: int = 1,
    request: Mapping[str, Json] | None = None,
    **fields: Json,
) -> Step:
    """A step; keyword arguments are fields of its answer."""
    return Step(
        name=name,
        api=api,
        version=version,
        error=error,
        held=held,
        sent=sent,
        answered=answered,
        node=node,
        request=request or {},
        fields=fields,
    )


def held_link(name: str, *, where: str = "link-1-2", started: float = 0.0, ended: float = 50.0) -> Fault:
    """A hold that was released; a doctored step with ``answered`` ≥ ``ended`` was held by it."""
    return Fault(name=name, kind="hold", where=where, started=started, ended=ended)


def sample(name: str, partition: str, high_watermark: int, last_stable_offset: int, at: float = 0.0) -> Sample:
    """High watermark and last stable offset at a named moment."""
    return Sample(
        at=at, partition=partition, high_watermark=high_watermark, last_stable_offset=last_stable_offset, name=name
    )


def data(producer_id: int, epoch: int, *values: str, sequence: int = 0, transactional: bool = True) -> Batch:
    """A data batch; its offsets are given by its place in :func:`log`."""
    return Batch(
        base_offset=0,
        last_offset=len(values) - 1,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        transactional=transactional,
        values=values,
    )


def commit(producer_id: int, epoch: int, *, coordinator_epoch: int = 0) -> Batch:
    """A COMMIT marker."""
    return _marker("COMMIT", producer_id, epoch, coordinator_epoch)


def abort(producer_id: int, epoch: int, *, coordinator_epoch: int = 0) -> Batch:
    """An ABORT marker."""
    return _marker("ABORT", producer_id, epoch, coordinator_epoch)


def log(*batches: Batch) -> LogTruth:
    """A log of these batches in this order."""
    placed = _placed(batches)
    high_watermark = placed[-1].last_offset + 1 if placed else 0
    still_open, committed = _transactions(placed)
    return LogTruth(
        batches=placed,
        high_watermark=high_watermark,
        last_stable_offset=min(still_open, default=high_watermark),
        committed=committed,
    )


def _marker(kind: Marker, producer_id: int, epoch: int, coordinator_epoch: int) -> Batch:
    return Batch(
        base_offset=0,
        last_offset=0,
        producer_id=producer_id,
        producer_epoch=epoch,
        control=kind,
        coordinator_epoch=coordinator_epoch,
    )


def _placed(batches: tuple[Batch, ...]) -> tuple[Batch, ...]:
    placed: list[Batch] = []
    for batch in batches:
        base = placed[-1].last_offset + 1 if placed else 0
        placed.append(replace(batch, base_offset=base, last_offset=base + batch.last_offset - batch.base_offset))
    return tuple(placed)


def _transactions(batches: tuple[Batch, ...]) -> tuple[list[int], tuple[str, ...]]:
    """First offsets of the transactions still open, and the values that a read_committed client is shown."""
    opened: dict[int, list[Batch]] = {}
    shown: list[Batch] = []
    for batch in batches:
        if batch.control:
            ended = opened.pop(batch.producer_id, [])
            shown.extend(ended if batch.control == "COMMIT" else [])
        elif batch.transactional:
            opened.setdefault(batch.producer_id, []).append(batch)
        else:
            shown.append(batch)
    stable = min((batch.base_offset for part in opened.values() for batch in part), default=None)
    visible = [batch for batch in shown if stable is None or batch.base_offset < stable]
    in_order = sorted(visible, key=lambda batch: batch.base_offset)
    return [] if stable is None else [stable], tuple(value for batch in in_order for value in batch.values)
