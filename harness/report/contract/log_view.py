"""View models of what the log held in the end: drained batches beside the committed view, and the sampled offsets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.evidence.requirement_evidence import Batch, Evidence, LogTruth, Sample
from harness.report.contract.lso_picture import lso_picture
from harness.report.contract.steps import Band, Span
from harness.report.shared.words import duration, short

BATCHES_SHOWN = 40
VALUES_SHOWN = 12
SAMPLES_SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueView:
    """A record's value, and whether the read_committed client was shown it."""

    text: str
    committed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchView:
    """A batch of the log; ``marker`` is ABORT, COMMIT or empty; ``stuck`` is true from the LSO on."""

    offsets: str
    producer: str
    sequence: str
    marker: str
    coordinator: str
    values: tuple[ValueView, ...]
    values_left_out: int
    transactional: bool
    stuck: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogView:
    """A drained partition; ``behind`` is how many offsets the LSO lies below the high watermark."""

    partition: str
    high_watermark: int
    last_stable_offset: int
    behind: int
    batches: tuple[BatchView, ...]
    batches_left_out: int
    committed: int
    committed_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleView:
    at: str
    name: str
    high_watermark: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsView:
    """A partition's high watermark and LSO over time: the picture as SVG text, and the numbers of it."""

    partition: str
    picture: str
    samples: tuple[SampleView, ...]
    samples_left_out: int


def logs(evidence: Evidence) -> tuple[LogView, ...]:
    """Every drained partition, by name."""
    return tuple(_log(partition, drained) for partition, drained in sorted(evidence.logs.items()))


def offsets(evidence: Evidence, bands: Sequence[Band], span: Span) -> tuple[OffsetsView, ...]:
    """A picture and a table for each sampled partition, by name."""
    names = sorted({sample.partition for sample in evidence.samples})
    return tuple(
        _offsets(name, [sample for sample in evidence.samples if sample.partition == name], bands, span)
        for name in names
    )


def _log(partition: str, drained: LogTruth) -> LogView:
    visible = Counter(drained.committed)
    shown = drained.batches[:BATCHES_SHOWN]
    return LogView(
        partition=partition,
        high_watermark=drained.high_watermark,
        last_stable_offset=drained.last_stable_offset,
        behind=drained.high_watermark - drained.last_stable_offset,
        batches=tuple(_batch(batch, visible, drained.last_stable_offset) for batch in shown),
        batches_left_out=len(drained.batches) - len(shown),
        committed=len(drained.committed),
        committed_text=short(", ".join(drained.committed), 300),
    )


def _batch(batch: Batch, visible: "Counter[str]", stable: int) -> BatchView:
    shown = batch.values[:VALUES_SHOWN]
    one = batch.base_offset == batch.last_offset
    return BatchView(
        offsets=str(batch.base_offset) if one else f"{batch.base_offset}–{batch.last_offset}",
        producer=f"{batch.producer_id} / {batch.producer_epoch}" if batch.producer_id >= 0 else "none",
        sequence=str(batch.base_sequence) if batch.base_sequence >= 0 else "",
        marker=batch.control or "",
        coordinator="" if batch.coordinator_epoch is None else str(batch.coordinator_epoch),
        values=tuple(ValueView(text=short(text, 60), committed=_take(visible, text)) for text in shown),
        values_left_out=len(batch.values) - len(shown),
        transactional=batch.transactional,
        stuck=batch.base_offset >= stable,
    )


def _take(visible: "Counter[str]", text: str) -> bool:
    """Whether the committed view still has this value; each visible value is that of one record."""
    visible[text] -= 1
    return visible[text] >= 0


def _offsets(partition: str, samples: Sequence[Sample], bands: Sequence[Band], span: Span) -> OffsetsView:
    ordered = sorted(samples, key=lambda sample: sample.at)
    changes = [sample for place, sample in enumerate(ordered) if _is_new(place, ordered)]
    return OffsetsView(
        partition=partition,
        picture=lso_picture(partition, ordered, bands, span),
        samples=tuple(_sample(sample, span) for sample in changes[:SAMPLES_SHOWN]),
        samples_left_out=len(ordered) - len(changes[:SAMPLES_SHOWN]),
    )


def _is_new(place: int, samples: Sequence[Sample]) -> bool:
    """A sample that shows something new: named, the first, the last, or unlike the one before."""
    if samples[place].name or place in (0, len(samples) - 1):
        return True
    before, now = samples[place - 1], samples[place]
    return (before.high_watermark, before.last_stable_offset) != (now.high_watermark, now.last_stable_offset)


def _sample(sample: Sample, span: Span) -> SampleView:
    return SampleView(
        at=duration(sample.at - span.start),
        name=sample.name,
        high_watermark=sample.high_watermark,
        last_stable_offset=sample.last_stable_offset,
    )
