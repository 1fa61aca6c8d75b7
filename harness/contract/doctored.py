"""Evidence by hand, for a requirement's controls: short words for steps, logs and faults.

::

    GOOD = evidence(
        step("late produce", "Produce", 12, error=KafkaError.INVALID_PRODUCER_EPOCH, held=20),
        ended("end", epoch=0),
        described("kept", "CompleteCommit", epoch=1),
        logs={"P1": log(data(7, 0, "a"), commit(7, 1))},
        held=("lane",),
    )

The producer is 7 unless another id is given. Evidence that is long by hand is taken from a sound run
(``fencepost adopt``) and read by :func:`adopted`.

Offsets, high watermark, last stable offset and the committed view of a log are worked out from its batches, as a sound
broker and a sound client would; ``with_log(…, last_stable_offset=0)`` doctors them.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.base.json_value import Json
from harness.contract.requirement import Refusal
from harness.contract.transaction_result import TransactionResult
from harness.contract.version_tables import epoch_after_end
from harness.evidence.json_codec import from_json
from harness.evidence.requirement_evidence import Batch, Evidence, Fault, GateStrike, LogTruth, Marker, Sample, Step

PRODUCER = 7
"""The producer id of evidence by hand."""

ADOPTED = ".accepts.json"


def adopted(requirement_file: str, requirement: str) -> Evidence:
    """What ``fencepost adopt`` wrote for the requirement (its id) beside its file (``__file__``).

    :raises OSError: When there is no such file.
    :raises Malformed: When it is not evidence of this format.
    """
    text = (Path(requirement_file).parent / f"{requirement}{ADOPTED}").read_text(encoding="utf-8")
    return from_json(Evidence, text)


def evidence(
    *steps: Step,
    logs: Mapping[str, LogTruth] | None = None,
    faults: tuple[Fault, ...] = (),
    held: tuple[str, ...] = (),
    cut: tuple[str, ...] = (),
    samples: tuple[Sample, ...] = (),
    **facts: Json,
) -> Evidence:
    """Evidence with these steps; keyword arguments are facts.

    :param held: Names of holds, each a :func:`held_link`.
    :param cut: Names of cuts, each a :func:`cut_link`.
    """
    windows = (*faults, *map(held_link, held), *map(cut_link, cut))
    return Evidence(steps=steps, logs=logs or {}, faults=windows, samples=samples, facts=facts)


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


def written(
    name: str, version: int, *values: str, producer_id: int = PRODUCER, base_offset: int = 0, to: str = "P1"
) -> Step:
    """A Produce to the partition ``to`` that was accepted."""
    request: dict[str, Json] = {"producer_id": producer_id, "partitions": [to], "values": list(values)}
    return step(name, "Produce", version, request=request, base_offset=base_offset)


def refused_write(
    name: str,
    version: int,
    error: int,
    *values: str,
    held: float = 0.0,
    error_message: str | None = None,
    to: str = "P1",
) -> Step:
    """A Produce to the partition ``to`` that was refused."""
    request: dict[str, Json] = {"producer_id": PRODUCER, "partitions": [to], "values": list(values)}
    return step(name, "Produce", version, error=error, held=held, request=request, error_message=error_message)


def ended(
    name: str = "end",
    *,
    epoch: int = 0,
    version: int = 5,
    error: int = 0,
    committed: bool = True,
    producer_id: int = PRODUCER,
    answered: float = 20.0,
    returned: int | None = None,
) -> Step:
    """An EndTxn asked in ``epoch``; from version 5 on a sound answer is the bumped identity, a refusal's is (-1, -1).

    :param returned: The epoch of the answer, where it is not the bumped one.
    """
    request: dict[str, Json] = {"producer_id": producer_id, "producer_epoch": epoch, "committed": committed}
    fields: dict[str, Json] = {"producer_id": -1, "producer_epoch": -1}
    if version >= 5 and error == 0:
        bumped = epoch_after_end(epoch, version) if returned is None else returned
        fields = {"producer_id": producer_id, "producer_epoch": bumped}
    asked = step(name, "EndTxn", version, error=error, request=request, answered=answered)
    return replace(asked, fields=fields)


def described(
    name: str, state: str, *, epoch: int = 0, producer_id: int = PRODUCER, partitions: tuple[str, ...] = ()
) -> Step:
    """A DescribeTransactions."""
    return step(
        name,
        "DescribeTransactions",
        0,
        state=state,
        producer_id=producer_id,
        producer_epoch=epoch,
        partitions=list(partitions),
    )


def joint_add(name: str, version: int, **transactions: Mapping[str, int]) -> Step:
    """An AddPartitionsToTxn of ``lab.joint``: each partition's error, by transaction."""
    first = {name: next(filter(None, errors.values()), 0) for name, errors in transactions.items()}
    answers: dict[str, Json] = {
        name: {"error": first[name], "partitions": dict(errors)} for name, errors in transactions.items()
    }
    counted = next(filter(None, first.values()), 0)
    return step(name, "AddPartitionsToTxn", version, error=counted, transactions=answers)


def producers(name: str, *rows: Json) -> Step:
    """A DescribeProducers with these :func:`producer_row`."""
    return step(name, "DescribeProducers", 0, producers=list(rows))


def known_producer(name: str, *, epoch: int = 0, since: int = -1) -> Step:
    """A DescribeProducers that knows the producer alone."""
    return producers(name, producer_row(epoch=epoch, since=since))


def producer_row(
    producer_id: int = PRODUCER, *, epoch: int = 0, since: int = -1, last_sequence: int = -1, coordinator_epoch: int = 0
) -> Json:
    """What a leader keeps of a producer; ``since`` is the first offset of its open transaction, -1 when none is."""
    return {
        "producer_id": producer_id,
        "producer_epoch": epoch,
        "last_sequence": last_sequence,
        "coordinator_epoch": coordinator_epoch,
        "current_txn_start_offset": since,
    }


def held_link(name: str, *, where: str = "link-1-2", started: float = 0.0, ended: float = 50.0) -> Fault:
    """A hold that was released; a doctored step with ``answered`` ≥ ``ended`` was held by it."""
    return Fault(name=name, kind="hold", where=where, started=started, ended=ended)


def cut_link(name: str, *, where: str = "link-1-2", started: float = 50.0, ended: float = 150.0) -> Fault:
    """A cut; a doctored step answered at 100 (the default) was interrupted by it."""
    return Fault(name=name, kind="cut", where=where, started=started, ended=ended)


def gate(name: str, action: str, *strikes: GateStrike, where: str = "link-1-2", ended: float = 50.0) -> Fault:
    """A gate that took one request, or these :func:`strike`."""
    taken = strikes or (strike(),)
    return Fault(
        name=name, kind="gate", where=where, started=0.0, ended=ended, action=action, struck=len(taken), strikes=taken
    )


def strike(api: str = "WriteTxnMarkers", version: int = 2, *, error: int | None = 0, at: float = 10.0) -> GateStrike:
    """A request that a gate took at that moment; its answer came a moment later."""
    return GateStrike(at=at, api=api, version=version, fate="answered", delivered=at, answered=at + 1, error=error)


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


def marker(result: TransactionResult, epoch: int, *, producer_id: int = PRODUCER) -> Batch:
    """The marker of this result."""
    return _marker(result.marker, producer_id, epoch, 0)


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


def unsound(
    good: Evidence,
    partition: str = "P1",
    *,
    appended: str | None = "wrong-records-in-log",
    shown: str | None = "wrong-records-shown",
    stuck: str | None = "stuck-lso",
) -> tuple[Refusal, ...]:
    """One refusal for each thing that ``expect.sound`` looks at, under the anomalies given there; None leaves one out.

    A record too many in the raw log; one too many or too few for readers of committed records; an LSO left behind.
    """
    truth = good.log(partition)
    stray = log(*truth.batches, data(PRODUCER, 0, "stray"))
    end = stray.high_watermark
    longer = replace(stray, committed=truth.committed, last_stable_offset=end)
    doctored = (
        (appended, good.with_log(partition, longer)),
        (shown, good.with_log(partition, committed=truth.committed[:-1] or ("stray",))),
        (stuck, good.with_log(partition, high_watermark=end, last_stable_offset=end - 1)),
    )
    return tuple(Refusal(anomaly, evidence) for anomaly, evidence in doctored if anomaly is not None)


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
