"""A run folder as an old Kafka would leave it, made up: every status, held links, a stuck LSO, hostile strings.

The report's selfchecks read it; so may a person: ``python -m suites.selfcheck.doctored_run FOLDER`` publishes it.
"""

import sys
from dataclasses import replace
from pathlib import Path

from harness.contract.catalogue import Row
from harness.contract.expect import Finding
from harness.contract.verdict import Status, Verdict
from harness.history.evidence import Batch, Evidence, Fault, Json, LogTruth, Sample, Step
from harness.history.exchange import Exchange
from harness.history.folder import RunFolder

HOSTILE = "<script>alert('x')</script> & \"quoted\" {{ 7 * 7 }} ]]> \u202e"
LATE, STUCK = "KIP890-VERIFY-09", "KIP890-SAFE-04"
RUN: dict[str, Json] = {
    "target": "kafka:3.5.2",
    "identity": "Kafka 3.5.2 from Maven, three brokers, process backend",
    "backend": "process",
    "backend_why": "no Docker engine answers, Java 17.0.16 is on the PATH",
    "versions": {"kafka": "3.5.2", "java": "17.0.16", "toxiproxy": "2.12.0"},
    "features": {"supported": {"metadata.version": [1, 11]}, "finalized": {"metadata.version": 11}},
    "apis": {"Produce": [0, 9], "InitProducerId": [0, 4], "AddPartitionsToTxn": [0, 3], "EndTxn": [0, 3]},
    "seed": 1754,
    "command": "fencepost qualify kafka:3.5.2 --backend process --seed 1754",
    "started": "2026-10-08T09:14:03+00:00",
    "seconds": 148.2,
    "selection": "all",
    "fencepost": "0.1.0",
}
_GROUPS = {
    "KIP890-FEAT": 2,
    "KIP890-VERIFY": 12,
    "KIP890-BUMP": 10,
    "KIP890-SAFE": 4,
    "KIP360-INIT": 4,
    "KIP588-TIMEOUT": 1,
    "KIP664-DP": 2,
}
_STATEMENT = "A transactional Produce below v12 to a partition that is not in the ongoing transaction must be refused"


def rows() -> tuple[Row, ...]:
    """Thirty-five rows in six groups; one has a hostile statement, one a very long one."""
    return tuple(_row(group, number) for group, size in _GROUPS.items() for number in range(1, size + 1))


def verdicts() -> tuple[Verdict, ...]:
    """One verdict a row, of every status; known and stale failures too."""
    return tuple(_verdict(row) for row in rows())


def make(path: Path) -> RunFolder:
    """Write the folder as a run leaves it; its path must be free."""
    folder = RunFolder.create(path, RUN)
    journal = folder.journal()
    for number in range(1, 140):
        journal.record(_exchange(number, LATE if number < 90 else STUCK))
    journal.close()
    for row in rows():
        if row.group != "BUMP":
            folder.write_evidence(row.id, evidence(row.id))
    folder.seal()
    return folder


def evidence(requirement: str) -> Evidence:
    """A held produce that comes after the end of its transaction, seen by the observer all along."""
    steps = (
        _step("find coordinator", "FindCoordinator", 3, 0, sent=1200.0, took=2.1),
        _step("init", "InitProducerId", 4, 0, sent=1204.0, took=11.8, tries=2),
        _step("add", "AddPartitionsToTxn", 3, 0, sent=1218.5, took=6.2),
        _step("first", "Produce", 9, 0, sent=1226.0, took=8.4),
        _step("late", "Produce", 9, 0, sent=1240.0, took=1432.5, held=1420.0),
        replace(_step("end", "EndTxn", 3, 0, sent=1262.0, took=31.0), exchange=6),
        _step("probe", "Produce", 9, None, sent=2700.0, took=None),
        _step("fenced", "InitProducerId", 4, 47, sent=2780.0, took=4.0),
    )
    return Evidence(
        steps=steps if requirement != "KIP664-DP-02" else (),
        logs={"P1": _log(), "P2": LogTruth(batches=(), high_watermark=0, last_stable_offset=0)},
        faults=(
            Fault(name="hold", kind="latency", where="lane victim, broker 2", started=1236.0, ended=2660.0),
            Fault(name="marker held", kind="latency", where="b1 → b2", started=1255.0, ended=1900.0),
        ),
        samples=_samples(),
        facts={"coordinator": 1, "leader": 2, "transactional_id": "fp-verify-09-" + "x" * 40, "note": HOSTILE},
    )


def _row(group: str, number: int) -> Row:
    kip, name = group.split("-")
    special = {
        "KIP890-FEAT-02": HOSTILE,
        LATE: "After the marker of a transaction, the next first write must be verified again: a Produce that was "
        "held on the way and arrives when its transaction has ended must not open another one that nobody will end. "
        + "This sentence is long on purpose, to see what the page does with it. "
        * 3,
        STUCK: "Once every transaction has ended and every fault is healed, the last stable offset reaches the high "
        "watermark, so that a read_committed reader is never stuck",
    }
    identity = f"{group}-{number:02}"
    return Row(
        id=identity,
        kip=kip.replace("KIP", "KIP-"),
        group=name,
        level="SHOULD" if number % 5 == 4 else "MAY" if identity == "KIP890-BUMP-10" else "MUST",
        statement=special.get(identity, f"{_STATEMENT} (variant {number})"),
        source="KIP-890: «Ensure Ongoing Transaction for Older Clients (3)»",
        section="«Ensure Ongoing Transaction for Older Clients (3)»",
        link=f"https://cwiki.apache.org/confluence/display/KAFKA/{kip.replace('KIP', 'KIP-')}",
        file=f"suites/contract/{kip.lower()}/{name.lower()}/late_produce_is_refused_{number}.py",
        accepts=1,
        refuses=("late-produce-accepted", "wrong-error"),
        refuted_by=("kafka:3.5.2 → late-produce-accepted", f"none: {HOSTILE}"),
    )


def _verdict(row: Row) -> Verdict:
    base = Verdict(id=row.id, level=row.level, status=Status.HOLDS, witnesses=2, seconds=0.034)
    late = Finding(
        anomaly="late-produce-accepted",
        detail="late: Produce v9 answered NONE (0); expected INVALID_TXN_STATE (48) or TRANSACTION_ABORTABLE (120)",
        steps=("late", "end"),
    )
    stuck = Finding(anomaly="stuck-lso", detail=f"LSO of P1 is 2; expected 3 {HOSTILE}", steps=("late", "no such step"))
    trace = "Traceback (most recent call last):\n  File \"x.py\", line 3, in check\nKeyError: 'base_offset'\n"
    special: dict[str, Verdict] = {
        LATE: replace(base, status=Status.VIOLATED, findings=(late,), witnesses=1, seconds=1.61),
        STUCK: replace(base, status=Status.VIOLATED, findings=(stuck, late), witnesses=0, seconds=3.2),
        "KIP890-VERIFY-01": replace(
            base, status=Status.VIOLATED, findings=(late,), known_failure="KAFKA-14402 " + HOSTILE
        ),
        "KIP890-VERIFY-02": replace(base, status=Status.UNDECIDED, reason=trace, witnesses=0),
        "KIP890-VERIFY-03": replace(base, status=Status.UNDECIDED, reason="two answers are possible: " + HOSTILE),
        "KIP890-VERIFY-10": replace(base, status=Status.NOT_EXERCISED, reason="no step named 'held'", witnesses=0),
        "KIP360-INIT-02": replace(base, known_failure="KAFKA-1, said to fail"),
    }
    if row.group == "BUMP":
        needs = "needs EndTxn v5; the target offers v0–v3"
        return replace(base, status=Status.NOT_OFFERED, reason=needs, witnesses=0, seconds=0.0)
    return special.get(row.id, base)


def _step(
    name: str, api: str, version: int, error: int | None, *, sent: float, took: float | None, **more: object
) -> Step:
    step = Step(
        name=name,
        api=api,
        version=version,
        error=error,
        fields={"producer_id": 4001, "producer_epoch": 0, "error_message": HOSTILE if name == "fenced" else None},
        request={"transactional_id": "fp-verify-09", "partitions": ["P1-0"]},
        actor="rival" if name == "fenced" else "victim",
        node=2 if api == "Produce" else 1,
        sent=sent,
        answered=None if took is None else sent + took,
        exchange=4 if name == "late" else 0,
    )
    return replace(step, **more)  # type: ignore[arg-type]


def _samples() -> tuple[Sample, ...]:
    moments = [(1230 + 40 * i, 1 if i == 0 else 2, 0) for i in range(17)]
    moments += [(1930 + 40 * i, 3 if i else 2, 3 if i else 0) for i in range(18)]
    moments += [(2680 + 40 * i, 4, 3) for i in range(10)]
    names = {1230: "before", 1910: "after release", 3040: "in the end"}
    still = Sample(at=3100.0, partition="P2", high_watermark=124, last_stable_offset=124)
    moving = (
        Sample(at=float(at), partition="P1", high_watermark=high, last_stable_offset=low, name=names.get(at, ""))
        for at, high, low in moments
    )
    return (replace(still, at=1300.0, high_watermark=117, last_stable_offset=117), still, *moving)


def _log() -> LogTruth:
    data = Batch(
        base_offset=0, last_offset=1, producer_id=4001, producer_epoch=0, base_sequence=0, values=("a", HOSTILE)
    )
    marker = Batch(
        base_offset=2, last_offset=2, producer_id=4001, producer_epoch=0, control="COMMIT", coordinator_epoch=0
    )
    late = replace(data, base_offset=3, last_offset=3, base_sequence=2, values=("late",))
    return LogTruth(batches=(data, marker, late), high_watermark=4, last_stable_offset=3, committed=("a", HOSTILE))


def _exchange(number: int, requirement: str) -> Exchange:
    answer: dict[str, Json] = {"responses": [{"partition_responses": [{"index": 0, "error_code": 47 * (number % 2)}]}]}
    return Exchange(
        number=number,
        actor="victim",
        lane="victim",
        node=2,
        api="Produce",
        key=0,
        version=9,
        sent=1200.0 + number,
        answered=None if number % 7 == 0 else 1203.0 + number,
        request={"transactional_id": HOSTILE, "filler": "y" * (5000 if number == 4 else 5)},
        answer=None if number % 7 == 0 else answer,
        failure="no answer within 10 s" if number % 7 == 0 else None,
        requirement=requirement,
    )


if __name__ == "__main__":
    from harness.report.publish import publish
    from harness.report.table import Progress, conclude

    made = make(Path(sys.argv[1]))
    progress = Progress(sys.stdout, total=len(rows()))
    for row, verdict in zip(rows(), verdicts(), strict=True):
        progress.judged(row, verdict)
    conclude(sys.stdout, made, rows(), verdicts(), publish(made, rows(), verdicts()))
