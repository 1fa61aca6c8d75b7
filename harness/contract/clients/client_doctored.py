"""Evidence about a client by hand, for a requirement's controls: short words for calls and frames.

::

    GOOD = of_client(
        call("init"), call("begin"), call("produce", "x"), call("commit"),
        frames=(frame("Produce", 12, batch("x")), frame("EndTxn", 5)),
        logs={"P1": log(data(7, 0, "x"), commit(7, 1))},
    )

Calls and frames are a millisecond apart, in the order in which they are given; a call takes the frames that are given
with it (``call("commit", frames=(frame("EndTxn", 5),))``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.json_value import Json
from harness.contract.doctored import PRODUCER, step
from harness.evidence.client_evidence import (
    CallOutcome,
    Classification,
    ClientCall,
    Delivery,
    Frame,
    LibraryError,
    ProducedBatch,
    ReadRecord,
)
from harness.evidence.requirement_evidence import Evidence, LogTruth, Step


@dataclass(frozen=True, slots=True)
class Told:
    """A call and the requests that were sent during it."""

    call: ClientCall
    frames: tuple[Frame, ...] = ()


def call(
    verb: str,
    *values: str,
    name: str = "",
    by: str = "app",
    outcome: CallOutcome = "done",
    says: Classification | None = None,
    code: int | None = None,
    type_: str = "KafkaException",
    reads: Sequence[ReadRecord] = (),
    frames: tuple[Frame, ...] = (),
) -> Told:
    """A call and its answer; a produce has each record's result, that of the call.

    :param says: The class that the library gives its error.
    """
    error = None if outcome == "done" else LibraryError(type=type_, code=code, classification=says)
    results = [Delivery(topic="P1", partition=1, value=value, outcome=outcome, error=error) for value in values]
    made = ClientCall(
        name=name or verb,
        call=verb,
        application=by,
        outcome=outcome,
        started=0.0,
        answered=0.0,
        error=error,
        values=values,
        deliveries=tuple(results),
        records=tuple(reads),
    )
    return Told(made, frames)


def batch(*values: str, epoch: int = 0, sequence: int = 0, producer_id: int = PRODUCER) -> ProducedBatch:
    """A batch of these records for ``P1``."""
    return ProducedBatch(
        topic="P1",
        partition=1,
        producer_id=producer_id,
        epoch=epoch,
        base_sequence=sequence,
        count=len(values),
    )


def frame(
    api: str,
    version: int,
    *batches: ProducedBatch,
    error: int | None = 0,
    by_gate: bool = False,
    epoch: int | None = None,
    producer_id: int = PRODUCER,
    node: int = 1,
    answer: Mapping[str, Json] | None = None,
    **request: Json,
) -> Frame:
    """A request and its answer; keyword arguments are fields of the request. ``error`` None: no answer."""
    identity = batches[0].epoch if batches and epoch is None else epoch
    return Frame(
        number=0,
        at=0.0,
        node=node,
        connection=node,
        client_id="",
        api=api,
        version=version,
        producer_id=None if identity is None else producer_id,
        epoch=identity,
        batches=batches,
        request=request,
        answered=None if error is None else 0.0,
        errors=() if error is None else (error,),
        answered_by="gate" if by_gate else "" if error is None else "broker",
        answer=answer or {},
    )


def of_client(
    *told: Told,
    logs: Mapping[str, LogTruth] | None = None,
    library: str = "java",
    version: str = "4.3.1",
    **facts: Json,
) -> Evidence:
    """Evidence of these calls in this order, each after the requests of the one before."""
    calls: list[ClientCall] = []
    frames: list[Frame] = []
    at = 1.0
    for each in told:
        started = at
        for of_call in each.frames:
            at += 1.0
            answered = None if of_call.answered is None else at + 0.5
            number, application = len(frames) + 1, each.call.application
            frames.append(replace(of_call, number=number, at=at, answered=answered, client_id=application))
        at += 1.0
        calls.append(replace(each.call, started=started, answered=at))
    known: dict[str, Json] = {"library": library, "version": version, **facts}
    return Evidence(calls=tuple(calls), frames=tuple(frames), logs=logs or {}, facts=known)


def stable(name: str, partition: str, offset: int) -> Step:
    """The step that asked for a partition's last stable offset, as a reader's stimulus does."""
    return step(name, "ListOffsets", 5, request={"partition": partition}, offset=offset)


def with_call(evidence: Evidence, name: str, **changes: object) -> Evidence:
    """Doctored: every call of this name with other fields."""
    assert any(call.name == name for call in evidence.calls), name
    changed = (replace(each, **changes) if each.name == name else each for each in evidence.calls)  # type: ignore[arg-type]
    return replace(evidence, calls=tuple(changed))


def without_calls(evidence: Evidence, *names: str) -> Evidence:
    """Doctored: as if these had never been called."""
    return replace(evidence, calls=tuple(each for each in evidence.calls if each.name not in names))


def with_frames(evidence: Evidence, api: str, **changes: object) -> Evidence:
    """Doctored: every request of this API with other fields."""
    assert any(frame.api == api for frame in evidence.frames), api
    changed = (replace(each, **changes) if each.api == api else each for each in evidence.frames)  # type: ignore[arg-type]
    return replace(evidence, frames=tuple(changed))


def without_frames(evidence: Evidence, *apis: str) -> Evidence:
    """Doctored: as if no such request had been sent."""
    return replace(evidence, frames=tuple(each for each in evidence.frames if each.api not in apis))
