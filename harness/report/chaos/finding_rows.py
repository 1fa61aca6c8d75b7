"""View models of findings: what was found, the operations that show it, the faults around, the raw log in its order.

A finding's context is plain rows, which may come from a judge of another version: what a row lacks stays empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.evidence.history.judgement import CheckResult, HistoryFinding
from harness.evidence.history.operation import Value
from harness.report.chaos.anomaly_words import answered, moment_of, number, text, took
from harness.report.shared.words import duration

OPERATIONS_SHOWN, FAULTS_SHOWN, LOG_SHOWN = 40, 20, 60
OPEN = 4
"""Findings of one anomaly that are open on the page."""

Row = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationView:
    """An operation as a table's row; ``shows`` marks those that the finding names."""

    number: str
    began: str
    took: str
    actor: str
    call: str
    place: str
    producer: str
    outcome: str
    kind: str
    shows: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NearFault:
    """A fault around the finding, in words."""

    name: str
    words: str
    missed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """A record or a marker of the raw log."""

    offset: str
    producer: str
    sequence: str
    marker: str
    txn: str
    value: str
    shows: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """A stretch of one partition's log, in log order."""

    partition: str
    rows: tuple[LogRow, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFindingView:
    """One finding with all that shows it."""

    anchor: str
    open: bool
    detail: str
    where: tuple[tuple[str, str], ...]
    operations: tuple[OperationView, ...]
    operations_left_out: int
    faults: tuple[NearFault, ...]
    log: tuple[LogPart, ...]


def findings(checks: Sequence[CheckResult], anomaly: str, start: float) -> tuple[HistoryFindingView, ...]:
    """Every finding of an anomaly that the judgement keeps."""
    kept = [found for check in checks for found in check.findings if found.anomaly == anomaly]
    return tuple(_finding(f"{anomaly}-{place}", place <= OPEN, found, start) for place, found in enumerate(kept, 1))


def _finding(anchor: str, opened: bool, found: HistoryFinding, start: float) -> HistoryFindingView:
    around = found.around
    operations = sorted(around.operations, key=lambda row: (number(row.get("started")), number(row.get("number"))))
    shown = operations[:OPERATIONS_SHOWN]
    return HistoryFindingView(
        anchor=anchor,
        open=opened,
        detail=found.detail,
        where=_where(found),
        operations=tuple(_operation(row, found, start) for row in shown),
        operations_left_out=len(operations) - len(shown),
        faults=tuple(_fault(row, start) for row in around.faults[:FAULTS_SHOWN]),
        log=_log(found),
    )


def _where(found: HistoryFinding) -> tuple[tuple[str, str], ...]:
    place = "" if found.topic is None else f"{found.topic}-{found.partition}"
    producer = "" if found.producer_id is None else _producer(found.producer_id, found.epoch)
    parts = (
        ("seen by", {"log": "the log itself"}.get(found.view, found.view)),
        ("partition", place),
        ("offset", text(found.offset)),
        ("transaction", text(found.txn)),
        ("actor", found.actor or ""),
        ("producer id / epoch", producer),
        ("lasted", "" if found.lasted_ms is None else duration(found.lasted_ms)),
    )
    return tuple((name, value) for name, value in parts if value)


def _operation(row: Row, found: HistoryFinding, start: float) -> OperationView:
    outcome = text(row.get("outcome"))
    return OperationView(
        number=text(row.get("number")),
        began=moment_of(number(row.get("started")), start) if "started" in row else "",
        took=took(row.get("started"), row.get("ended")) if "ended" in row else "",
        actor=text(row.get("actor")),
        call=_call(row),
        place=_place(row),
        producer=_producer(row.get("producer_id"), row.get("epoch")),
        outcome=answered(outcome, row.get("error"), text(row.get("reason"))),
        kind=outcome if outcome in ("done", "refused", "unsure") else "other",
        shows=row.get("number") in found.operations,
    )


def _call(row: Row) -> str:
    """``produce 7/0 of 2 money:a:-5``: the verb, its transaction, the record's place in it, the payload."""
    words = [text(row.get("verb"))]
    if row.get("txn") is not None:
        words.append(f"txn {text(row.get('txn'))}")
    if row.get("ordinal") is not None:
        words.append(f"record {text(row.get('ordinal'))} of {text(row.get('size'))}")
    words += [text(row.get("payload"), 60)] if row.get("payload") else []
    return " · ".join(words)


def _place(row: Row) -> str:
    if row.get("topic") is None:
        return text(row.get("group"))
    offset = "" if row.get("offset") is None else f" @ {text(row.get('offset'))}"
    return f"{text(row.get('topic'))}-{text(row.get('partition'))}{offset}"


def _producer(producer_id: Json, epoch: Json) -> str:
    if producer_id is None or producer_id == -1:
        return ""
    return f"{text(producer_id)} / {text(epoch) or '?'}"


def _fault(row: Row, start: float) -> NearFault:
    struck = int(number(row.get("struck")))
    strikes = f"struck {struck:,}: {text(row.get('how'))}" if struck else "did not strike"
    when = f"from {moment_of(number(row.get('started')), start)} for {took(row.get('started'), row.get('ended'))}"
    return NearFault(
        name=text(row.get("name")), words=f"on {text(row.get('where'))}, {when}; {strikes}", missed=not struck
    )


def _log(found: HistoryFinding) -> tuple[LogPart, ...]:
    by_place: dict[tuple[str, int], list[Row]] = {}
    for row in found.around.log:
        by_place.setdefault((text(row.get("topic")), int(number(row.get("partition")))), []).append(row)
    return tuple(_part(f"{topic}-{index}", rows, found) for (topic, index), rows in sorted(by_place.items()))


def _part(partition: str, rows: Sequence[Row], found: HistoryFinding) -> LogPart:
    ordered = sorted(rows, key=lambda row: number(row.get("offset")))
    shown = ordered[:LOG_SHOWN]
    return LogPart(
        partition=partition,
        rows=tuple(_log_row(row, found) for row in shown),
        left_out=len(ordered) - len(shown),
    )


def _log_row(row: Row, found: HistoryFinding) -> LogRow:
    raw = row.get("value")
    value = Value.parse(raw) if isinstance(raw, str) else None
    return LogRow(
        offset=text(row.get("offset")),
        producer=_producer(row.get("producer_id"), row.get("epoch")) or "none",
        sequence="" if number(row.get("sequence")) < 0 else text(row.get("sequence")),
        marker=text(row.get("control")),
        txn=f"txn {value.txn} · {value.ordinal} of {value.size}" if value else "",
        value=text(value.payload if value else raw, 80),
        shows=_shows(row, found),
    )


def _shows(row: Row, found: HistoryFinding) -> bool:
    place = (found.topic, found.partition, found.offset)
    return found.offset is not None and place == (row.get("topic"), row.get("partition"), row.get("offset"))
