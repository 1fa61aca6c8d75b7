"""What the client said and sent, found by name; and what holds of every client: the log is as it said.

:func:`as_it_said` belongs into every check of a requirement that writes: whatever else a client does with an error,
what it reports as committed is committed once, and what it reports as aborted is never shown.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.contract.expect import Observation, Observations, finding, habit, witness
from harness.evidence.client_evidence import CallOutcome, ClientCall, Frame
from harness.evidence.requirement_evidence import Evidence, NotSeen


def said(seen: Evidence, name: str) -> ClientCall:
    """The one call of that name; :raises NotSeen: when there is none or more than one."""
    match all_said(seen, name):
        case (call,):
            return call
        case found:
            raise NotSeen(f"{len(found)} calls named {name!r}, one expected")


def all_said(seen: Evidence, name: str) -> tuple[ClientCall, ...]:
    """Every call of that name, in order."""
    return tuple(call for call in seen.calls if call.name == name)


def sent(seen: Evidence, *apis: str, by: str = "", after: float = 0.0, before: float = float("inf")) -> Sequence[Frame]:
    """Requests of these APIs (or all) of one application (or all) that came to the gate between two moments."""
    return tuple(
        frame
        for frame in seen.frames
        if (not apis or frame.api in apis) and (not by or frame.client_id == by) and after <= frame.at < before
    )


def during(seen: Evidence, call: ClientCall, *apis: str) -> Sequence[Frame]:
    """Requests of the call's application from its beginning to its answer."""
    return sent(seen, *apis, by=call.application, after=call.started, before=call.answered)


def told(call: ClientCall) -> str:
    """What was said, as findings quote it: ``commit of app was refused: KafkaException (abortable)``."""
    words = f"{call.call} of {call.application} ({call.name}) was {call.outcome}"
    if call.error is None:
        return words
    code = "" if call.error.code is None else f" {call.error.code}"
    return f"{words}: {call.error.type}{code} ({call.error.classification or 'unclassified'}) {call.error.message}"


def succeeded(call: ClientCall, *, otherwise: str) -> Observation:
    """The library must report success; else the anomaly ``otherwise``."""
    return witness(told(call)) if call.done else finding(otherwise, f"{told(call)}; expected success")


def failed(call: ClientCall, *, otherwise: str) -> Observation:
    """The library must not report success; else the anomaly ``otherwise``."""
    return finding(otherwise, f"{told(call)}; expected an error") if call.done else witness(told(call))


@dataclass(slots=True)
class ToldTransaction:
    """A transaction of one application as it told it; ``ended`` is the last word on it.

    :param records: Each value with the outcome that was reported for it; ``untold`` where none was.
    """

    application: str
    records: dict[str, CallOutcome | Literal["untold"]] = field(default_factory=dict)
    ended: str = "open"


def told_transactions(seen: Evidence) -> Sequence[ToldTransaction]:
    """Of all applications; records outside a transaction are one that is ``plain``."""
    found: list[ToldTransaction] = []
    for application in dict.fromkeys(call.application for call in seen.calls):
        found += _of_one(application, [call for call in seen.calls if call.application == application])
    return found


def _of_one(application: str, calls: Sequence[ClientCall]) -> Iterator[ToldTransaction]:
    current = ToldTransaction(application, ended="plain")
    for call in calls:
        stray = bool(call.values) and current.ended in ("committed", "aborted")  # no begin was done before it
        if stray or (call.call == "begin" and call.done):
            yield current
            current = ToldTransaction(application)
        _take(current, call)
        if call.call in ("commit", "abort") and current.ended != "plain":
            current.ended = _ending(current.ended, call)
    yield current


def _ending(before: str, call: ClientCall) -> str:
    """``committed``, ``aborted``, or ``unsure``: what was refused may have happened, until an abort is done."""
    if before in ("committed", "aborted"):
        return before
    return {"commit": "committed", "abort": "aborted"}[call.call] if call.done else "unsure"


def _take(transaction: ToldTransaction, call: ClientCall) -> None:
    """A record that the library refused to take, without any result of its own, is no part of the transaction."""
    told_of = {delivery.value for delivery in call.deliveries}
    for value in call.values:
        if call.outcome != "refused" or value in told_of:
            transaction.records[value] = call.outcome if call.outcome != "done" else "untold"
    for delivery in call.deliveries:
        if delivery.value in transaction.records:
            transaction.records[delivery.value] = delivery.outcome


def as_it_said(seen: Evidence) -> Observations:
    """What was committed is in the log once, what was aborted is not shown (KIP-98, "Transactional Guarantees").

    Anomalies: ``lost``, ``written-twice``, ``aborted-is-shown``; and, of level SHOULD, ``committed-without-a-record``:
    that a commit fails where the application was told that a record had is the Java client's (``KafkaProducer.send``).
    """
    shown = Counter(value for log in seen.logs.values() for value in log.committed)
    for transaction in told_transactions(seen):
        if transaction.records and seen.logs:
            wrong = list(_wrong(transaction, shown))
            yield from wrong
            if not wrong:
                yield witness(f"{len(transaction.records)} records of {transaction.application}: {transaction.ended}")


def _wrong(transaction: ToldTransaction, shown: Counter[str]) -> Observations:
    for value, outcome in transaction.records.items():
        times, kept = shown[value], transaction.ended in ("committed", "plain")
        where = f"record {value!r} of {transaction.application}, {transaction.ended},"
        if times > 1:
            yield finding("written-twice", f"{where} is shown {times} times")
        elif times and transaction.ended == "aborted":
            yield finding("aborted-is-shown", f"{where} is shown")
        elif not times and transaction.ended == "committed" and outcome in ("refused", "unsure"):
            what = f"{where} was {outcome}, and the commit was reported as done"
            yield habit(finding("committed-without-a-record", what))
        elif not times and kept and (outcome == "done" or transaction.ended == "committed"):
            yield finding("lost", f"{where} is not shown")
