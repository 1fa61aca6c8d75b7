"""The evidence of one requirement: everything that its check may use.

A stimulus names the exchanges that matter (steps); the lab adds the faults with their windows, samples of high
watermark and last stable offset, and every partition's log after the run, read raw and as a read_committed client.
Everything here is a frozen value that goes to JSON and back, so that a verdict can be given again from the run folder
alone, and so that doctored evidence is one ``with_step`` away.

A message is stored once: an exchange, as it went over the wire, is a line of the journal, and a step refers to it by
its number. What a step keeps itself is another reading: ``fields`` and ``request`` are the few typed values that a
check may use, and its header (API, version, actor, node, times) is what its actor saw. The header is kept beside
the number, though it is mostly the exchange's, because the two can differ and because a check must need one file only:
an answer that comes after the actor's timeout is in the journal and not in the step; a request that is unanswered when
its run is killed has no line in the journal; and evidence is judged, doctored and adopted as a requirement's accepted
evidence away from its run. In size the headers are a thirtieth of the journal.

Times are milliseconds on the run's clock (:mod:`harness.base.clock`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError, error_name
from harness.evidence.client_evidence import ClientCall, Frame

Marker: TypeAlias = Literal["ABORT", "COMMIT"]


class NotSeen(Exception):
    """The evidence has no such step, fault or log: the situation never came about. The verdict is NOT_EXERCISED."""


UNDRAINED = "undrained"
"""The name of the fact why no log could be read."""


TOOL = -1
"""The version of a step that is no request but a run of a command line tool; its ``error`` is the exit code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A named exchange, as its actor saw it.

    :param error: The Kafka error code that counts (the partition's, for an API that answers per partition); None when
        no answer came in time.
    :param fields: The key fields of the answer, in snake case.
    :param request: The key fields of the request, likewise.
    :param sent: When the last try was sent.
    :param answered: When its answer came; None when none came in time.
    :param held: For how long the request lay on a held link.
    :param tries: How many requests were sent; all but the last were answered with an error that may be retried.
    :param exchange: The number of the last try's exchange in the journal; 0 for a step that never was on a wire.
    :param waited_ms: For how long it was waited for what the step shows, tries and looks before it included.
    :param looked: False for a look at what a broker keeps that was not taken, because the target does not offer it.
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
    looked: bool = True
    waited_ms: float = 0.0

    @property
    def call(self) -> str:
        """``EndTxn v5``; a command line tool has no version."""
        return self.api if self.version == TOOL else f"{self.api} v{self.version}"

    @property
    def told(self) -> bool:
        """Of a look: whether it says what the broker keeps; no answer does not, nor one that asks for another try."""
        for_now = self.error is None or any(self.error == each for each in KafkaError if each.retriable)
        return self.looked and not for_now

    def answered_before(self, moment: float) -> bool:
        """Whether an answer came before that moment, in milliseconds of the run's clock."""
        return self.answered is not None and self.answered < moment

    def outcome(self, code: int | None) -> str:
        """What this code means as the step's answer: ``NONE (0)``, ``exit code 1``."""
        if code is None:
            return "no answer"
        return f"exit code {code}" if self.version == TOOL else f"{error_name(code)} ({code})"

    def answer_int(self, name: str) -> int:
        """The integer field ``name`` of the answer; :raises NotSeen: when the answer has no such integer field."""
        value = self.fields.get(name)
        if not isinstance(value, int):
            raise NotSeen(f"step {self.name!r} has no integer field {name!r} in its answer")
        return value

    def request_int(self, name: str) -> int:
        """The integer field ``name`` of the request; :raises NotSeen: when the request has no such field."""
        value = self.request.get(name)
        if not isinstance(value, int):
            raise NotSeen(f"step {self.name!r} has no integer field {name!r} in its request")
        return value

    def written(self) -> tuple[str, ...]:
        """The values of the records in the request, of all its partitions; () when it carried none."""
        values = self.request.get("values")
        return tuple(map(str, values)) if isinstance(values, list) else ()

    def of(self, transaction: str) -> "Step":
        """The step with one transaction's error and fields alone; see :meth:`at` for its partitions."""
        return self.at(transaction, "transactions")

    def at(self, name: str, field: str = "partitions") -> "Step":
        """The step with one partition's error and fields alone, or with those of another part of its answer.

        ``error`` is None when the answer left it out; an integer in place of fields is an error alone. In what was not
        looked at, neither was the part.
        """
        parts = self.fields.get(field)
        own = parts.get(name) if isinstance(parts, dict) else None
        fields = own if isinstance(own, dict) else {} if own is None else {"error": own}
        error = fields.get("error")
        return replace(self, error=error if isinstance(error, int) else None, fields=fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStrike:
    """A request that the gate took ``at`` a moment; when it was forwarded, and when its answer came to the gate.

    :param error: The answer's first error code that is not 0, as its sender wrote it; None without an answer.
    :param fate: See :class:`harness.faults.frame_rule.Strike`.
    """

    at: float
    api: str
    version: int
    fate: str
    delivered: float | None = None
    answered: float | None = None
    error: int | None = None
    transactional_ids: tuple[str, ...] = ()
    producer_id: int | None = None
    epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault's window: ``kind`` is the toxic's name, ``where`` the proxy or node; ``ended`` is when it was healed.

    A :class:`harness.evidence.history.operation.FaultWindow` of a chaos history also counts what the fault did. Here
    the steps show that (``held``), so the two stay apart, with the same names for the same fields.

    :param direction: Of a hold: ``upstream`` holds requests, ``downstream`` their answers.
    :param action: Of a gate: what it did to the requests that it took.
    :param seen: Of a gate: requests of its API that passed while it was on.
    :param struck: Likewise, how many it took.
    :param strikes: Likewise, the first of them one by one.
    """

    name: str
    kind: str
    where: str
    started: float
    ended: float
    direction: Literal["upstream", "downstream"] = "upstream"
    action: str = ""
    seen: int = 0
    struck: int = 0
    strikes: tuple[GateStrike, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """High watermark and last stable offset of a partition at one moment, read over the observer's lane.

    ``partition`` is the lab's alias (``P1``), and a sample that a check looks at has a name; a chaos history's
    :class:`harness.evidence.history.operation.WatermarkSample` has topic and index instead, as columns of its table.
    """

    at: float
    partition: str
    high_watermark: int
    last_stable_offset: int
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A record batch of the log: a control batch has its marker in ``control``, another one its records' ``values``."""

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
    """A partition's log after the run: raw, and as the values that a read_committed client was given."""

    batches: tuple[Batch, ...]
    high_watermark: int
    last_stable_offset: int
    committed: tuple[str, ...] = ()

    def markers(self) -> tuple[Batch, ...]:
        """The control batches, in the order of the log."""
        return tuple(batch for batch in self.batches if batch.control)

    def marks(self) -> tuple[tuple[Marker | None, int], ...]:
        """Type and producer epoch of every marker, in the order of the log."""
        return tuple((batch.control, batch.producer_epoch) for batch in self.markers())

    def values(self) -> tuple[str, ...]:
        """The value of every record of the raw log, committed or not, in the order of the log."""
        return tuple(value for batch in self.batches for value in batch.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that a check may use.

    :param logs: Each partition's log by its alias.
    :param facts: Plain values that the stimulus or the run noted, by name.
    :param calls: Of a client under test: what it was asked and what it said, in the order of the calls.
    :param frames: Of a client under test: its requests, in the order in which they came to the gate.
    :param unprepared: Why the stimulus could not be carried out; None when it was.
    :param out_of_reach: Whether that is because the target gives no power over what was needed.
    """

    steps: tuple[Step, ...] = ()
    logs: Mapping[str, LogTruth] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    samples: tuple[Sample, ...] = ()
    facts: Mapping[str, Json] = field(default_factory=dict)
    calls: tuple[ClientCall, ...] = ()
    frames: tuple[Frame, ...] = ()
    unprepared: str | None = None
    out_of_reach: bool = False

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
        """A partition's log after the run; :raises NotSeen: when it was not read."""
        if partition not in self.logs:
            why = f": {self.facts[UNDRAINED]}" if UNDRAINED in self.facts else ""
            raise NotSeen(f"partition {partition} was not drained{why}")
        return self.logs[partition]

    def fault(self, name: str) -> Fault:
        """The fault of that name; :raises NotSeen: when there was none."""
        for fault in self.faults:
            if fault.name == name:
                return fault
        raise NotSeen(f"no fault named {name!r}")

    def sample(self, name: str) -> Sample:
        """The sample of that name; :raises NotSeen: when it was not taken."""
        for sample in self.samples:
            if sample.name == name:
                return sample
        raise NotSeen(f"no sample named {name!r}")

    def fact(self, name: str) -> Json:
        """The fact of that name; :raises NotSeen: when it was not noted."""
        if name not in self.facts:
            raise NotSeen(f"no fact named {name!r}")
        return self.facts[name]

    def with_step(self, name: str, **changes: object) -> "Evidence":
        """Doctored: every step called ``name`` with other values; a key that no step has goes into ``fields``."""
        self.all(name)
        return replace(self, steps=tuple(_changed(s, changes) if s.name == name else s for s in self.steps))

    def with_nth_step(self, name: str, nth: int, **changes: object) -> "Evidence":
        """Doctored: as :meth:`with_step`, of the steps called ``name`` that one alone; the first is 0."""
        chosen = self.all(name)[nth]
        return replace(self, steps=tuple(_changed(s, changes) if s is chosen else s for s in self.steps))

    def without_step(self, name: str) -> "Evidence":
        """Doctored: as if the step had never been taken."""
        self.all(name)
        return replace(self, steps=tuple(step for step in self.steps if step.name != name))

    def with_log(self, partition: str = "P1", truth: LogTruth | None = None, **changes: object) -> "Evidence":
        """Doctored: a partition's log replaced by ``truth``, or with other fields."""
        changed = replace(truth or self.log(partition), **changes)  # type: ignore[arg-type]
        return replace(self, logs={**self.logs, partition: changed})

    def with_sample(self, name: str, **changes: object) -> "Evidence":
        """Doctored: a named sample with other fields."""
        self.sample(name)
        changed = tuple(replace(s, **changes) if s.name == name else s for s in self.samples)  # type: ignore[arg-type]
        return replace(self, samples=changed)

    def with_fact(self, name: str, value: Json) -> "Evidence":
        """Doctored: a fact with another value."""
        self.fact(name)
        return replace(self, facts={**self.facts, name: value})


_STEP_FIELDS = frozenset(Step.__dataclass_fields__)


def _changed(step: Step, changes: Mapping[str, object]) -> Step:
    own = {key: value for key, value in changes.items() if key in _STEP_FIELDS}
    answer = {key: value for key, value in changes.items() if key not in _STEP_FIELDS}
    return replace(step, **{"fields": {**step.fields, **answer}, **own})  # type: ignore[arg-type]
