"""The evidence of one requirement: all that its check may look at.

A stimulus names the exchanges that matter (steps); the lab adds the faults with their windows, samples of high
watermark and last stable offset, and the truth of every partition's log after the run (drained raw and as a
read_committed client). Everything here is a frozen value that goes to JSON and back, so that a verdict can be given
again next week from the run folder alone, and so that doctored evidence is one ``with_step`` away.

Times are milliseconds on the run's clock (:mod:`harness.base.clock`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from harness.base.json_value import Json

Marker: TypeAlias = Literal["ABORT", "COMMIT"]


class NotSeen(Exception):
    """The evidence has no such step, fault or log: the situation never came about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A named exchange.

    ``error`` is the Kafka error code that counts (the partition's, for an API that answers per partition), or None
    when no answer came within the bound. ``fields`` are the key fields of the answer in snake case. ``tries`` counts
    sendings, retriable answers included. ``held`` is how long the request lay on a held link, in milliseconds.
    """

    name: str
    api: str
    version: int
    error: int | None
    fields: Mapping[str, Json] = field(default_factory=dict)
    request: Mapping[str, Json] = field(default_factory=dict)
    actor: str = "victim"
    node: int = 1
    sent: float = 0.0
    answered: float | None = 0.0
    held: float = 0.0
    tries: int = 1
    exchange: int = 0

    def number(self, name: str) -> int:
        """The integer field ``name`` of the answer.

        :raises NotSeen: When the answer has no such integer field.
        """
        value = self.fields.get(name)
        if not isinstance(value, int):
            raise NotSeen(f"step {self.name!r} has no integer field {name!r} in its answer")
        return value

    def asked(self, name: str) -> int:
        """The integer field ``name`` of the request; :raises NotSeen: when the request has no such field."""
        value = self.request.get(name)
        if not isinstance(value, int):
            raise NotSeen(f"step {self.name!r} has no integer field {name!r} in its request")
        return value

    def written(self) -> tuple[str, ...]:
        """The values that the request carried, of all its partitions; () when it carried none."""
        values = self.request.get("values")
        return tuple(map(str, values)) if isinstance(values, list) else ()

    def at(self, partition: str) -> "Step":
        """The answer for one partition of several: its error and fields; no error at all when it was left out."""
        partitions = self.fields.get("partitions")
        own = partitions.get(partition) if isinstance(partitions, dict) else None
        fields = own if isinstance(own, dict) else {}
        error = fields.get("error")
        return replace(self, error=error if isinstance(error, int) else None, fields=fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault's window: ``kind`` is the toxic's name, ``where`` the proxy or node; ``ended`` is when it was healed."""

    name: str
    kind: str
    where: str
    started: float
    ended: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """High watermark and last stable offset of a partition at a moment, as the undisturbed observer reads them."""

    at: float
    partition: str
    high_watermark: int
    last_stable_offset: int
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A record batch of the log. ``control`` names the marker of a control batch; ``values`` are the data records."""

    base_offset: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int = -1
    transactional: bool = True
    control: Marker | None = None
    coordinator_epoch: int | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTruth:
    """A partition after the run: the raw log, and the values that a read_committed client was shown."""

    batches: tuple[Batch, ...]
    high_watermark: int
    last_stable_offset: int
    committed: tuple[str, ...] = ()

    def markers(self) -> tuple[Batch, ...]:
        """The control batches, in log order."""
        return tuple(batch for batch in self.batches if batch.control)

    def marks(self) -> tuple[tuple[Marker | None, int], ...]:
        """Type and producer epoch of every marker, in log order."""
        return tuple((batch.control, batch.producer_epoch) for batch in self.markers())

    def values(self) -> tuple[str, ...]:
        """Every data value of the raw log, in log order, whether committed or not."""
        return tuple(value for batch in self.batches for value in batch.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that a check may look at. ``unprepared`` says why the stimulus could not be carried through, if so."""

    steps: tuple[Step, ...] = ()
    logs: Mapping[str, LogTruth] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    samples: tuple[Sample, ...] = ()
    facts: Mapping[str, Json] = field(default_factory=dict)
    unprepared: str | None = None

    def __getitem__(self, name: str) -> Step:
        """The one step of that name; :raises NotSeen: when there is none or more than one."""
        match self.all(name):
            case (step,):
                return step
            case found:
                raise NotSeen(f"{len(found)} steps named {name!r}, one expected")

    def all(self, name: str) -> tuple[Step, ...]:
        """Every step of that name, in order of sending; :raises NotSeen: when there is none."""
        found = tuple(step for step in self.steps if step.name == name)
        if not found:
            raise NotSeen(f"no step named {name!r}")
        return found

    def log(self, partition: str = "P1") -> LogTruth:
        """The drained log of a partition; :raises NotSeen: when it was not drained."""
        if partition not in self.logs:
            raise NotSeen(f"partition {partition} was not drained")
        return self.logs[partition]

    def fault(self, name: str) -> Fault:
        """The one fault of that name; :raises NotSeen: when it never struck."""
        for fault in self.faults:
            if fault.name == name:
                return fault
        raise NotSeen(f"no fault named {name!r}")

    def sample(self, name: str) -> Sample:
        """The one named sample; :raises NotSeen: when it was not taken."""
        for sample in self.samples:
            if sample.name == name:
                return sample
        raise NotSeen(f"no sample named {name!r}")

    def fact(self, name: str) -> Json:
        """A plain fact that the stimulus noted; :raises NotSeen: when it was not noted."""
        if name not in self.facts:
            raise NotSeen(f"no fact named {name!r}")
        return self.facts[name]

    def with_step(self, name: str, **changes: object) -> "Evidence":
        """Doctored: every step called ``name`` changed; unknown keys go into its answer's fields."""
        self.all(name)
        return replace(self, steps=tuple(_changed(s, changes) if s.name == name else s for s in self.steps))

    def without_step(self, name: str) -> "Evidence":
        """Doctored: as if the step had never been taken."""
        self.all(name)
        return replace(self, steps=tuple(step for step in self.steps if step.name != name))

    def with_log(self, partition: str = "P1", truth: LogTruth | None = None, **changes: object) -> "Evidence":
        """Doctored: the drained log of a partition replaced by ``truth``, or changed."""
        changed = replace(truth or self.log(partition), **changes)  # type: ignore[arg-type]
        return replace(self, logs={**self.logs, partition: changed})

    def with_sample(self, name: str, **changes: object) -> "Evidence":
        """Doctored: a named sample changed."""
        self.sample(name)
        changed = tuple(replace(s, **changes) if s.name == name else s for s in self.samples)  # type: ignore[arg-type]
        return replace(self, samples=changed)

    def with_fact(self, name: str, value: Json) -> "Evidence":
        """Doctored: a fact changed."""
        self.fact(name)
        return replace(self, facts={**self.facts, name: value})


_STEP_FIELDS = frozenset(Step.__dataclass_fields__)


def _changed(step: Step, changes: Mapping[str, object]) -> Step:
    own = {key: value for key, value in changes.items() if key in _STEP_FIELDS}
    answer = {key: value for key, value in changes.items() if key not in _STEP_FIELDS}
    return replace(step, **{"fields": {**step.fields, **answer}, **own})  # type: ignore[arg-type]
