"""What a stimulus leaves behind: steps, faults, samples and facts, gathered into evidence at the end."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from harness.base.json_value import Json
from harness.evidence.client_evidence import ClientCall, Delivery, Frame, Position, ProducedBatch, ReadRecord
from harness.evidence.requirement_evidence import Evidence, Fault, LogTruth, Sample, Step

PlacedT = TypeVar("PlacedT", Delivery, ReadRecord, Position, ProducedBatch)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """A step and the proxy that it travelled through, so that its time on a held link can be computed."""

    step: Step
    proxy: str | None


@dataclass(slots=True)
class EvidenceBuilder:
    """Everything noted so far; one per requirement.

    :param aliases: Short names of partitions (``P1``) by their real ones (``topic-index``).
    :param foreign: Ids of the producers that wrote to a given partition before this requirement.
    :param starts: Where this requirement began on a partition, by the same names; 0 where it is not here.
    """

    aliases: dict[str, str] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    foreign: dict[str, frozenset[int]] = field(default_factory=dict)
    steps: list[RecordedStep] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    facts: dict[str, Json] = field(default_factory=dict)
    calls: list[ClientCall] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    values: int = 0

    def unique(self, name: str) -> str:
        """A value that no other record of this requirement has."""
        self.values += 1
        return f"{name} #{self.values}"

    def step(self, step: Step, *, proxy: str | None) -> Step:
        """Note a step, its partitions under their short names."""
        short = replace(step, fields=self._short(step.fields), request=self._short(step.request))
        self.steps.append(RecordedStep(step=short, proxy=proxy))
        return short

    def short(self, placed: PlacedT) -> PlacedT:
        """Something of one partition, whose topic becomes the partition's short name."""
        return replace(placed, topic=self.aliases.get(f"{placed.topic}-{placed.partition}", placed.topic))

    def evidence(
        self, logs: Mapping[str, LogTruth], *, unprepared: str | None = None, out_of_reach: bool = False
    ) -> Evidence:
        """All of it, steps in the order of sending, each with the time that it lay on a held link."""
        return Evidence(
            steps=tuple(sorted(map(self._with_hold, self.steps), key=lambda step: step.sent)),
            logs=logs,
            faults=tuple(self.faults),
            samples=tuple(sorted(self.samples, key=lambda sample: sample.at)),
            facts=self.facts,
            calls=tuple(self.calls),
            frames=tuple(self.frames),
            unprepared=unprepared,
            out_of_reach=out_of_reach,
        )

    def shorten(self, value: Json) -> Json:
        """The value with every ``topic-index`` of this requirement replaced by its alias."""
        match value:
            case str():
                return self.aliases.get(value, value)
            case list():
                return [self.shorten(item) for item in value]
            case dict():
                return self._short(value)
            case _:
                return value

    def _with_hold(self, recorded: RecordedStep) -> Step:
        step = recorded.step
        holds = (fault for fault in self.faults if fault.kind == "hold" and fault.where == recorded.proxy)
        end = float("inf") if step.answered is None else step.answered
        held = sum(max(0.0, min(end, hold.ended) - max(step.sent, hold.started)) for hold in holds)
        return replace(step, held=round(held, 3))

    def _short(self, fields: Mapping[str, Json]) -> dict[str, Json]:
        return {self.aliases.get(name, name): self.shorten(value) for name, value in fields.items()}
