"""Promises of a consumer that reads committed records: a planned log, a reader, and what it was given."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.contract import (
    Liar,
    LyingClient,
    Need,
    Order,
    Refusal,
    Refuter,
    Requirement,
    Source,
)
from harness.contract.clients.client_doctored import call, of_client, stable, with_call
from harness.contract.clients.log_plan import LogPlan, as_planned, log_of
from harness.contract.clients.read_expect import offsets, read_committed
from harness.contract.expect import Observations
from harness.evidence.client_evidence import ClientCall, LibraryError, Position, ReadRecord
from harness.evidence.requirement_evidence import Evidence, LogTruth
from harness.lab.clients import ClientLab
from harness.lab.clients.committed_reading import read_to_the_end
from harness.lab.clients.planned_log import PlannedLog
from suites.clients.forms.error_requirement import TRANSACTIONS

GUARANTEES = Source(98, "New Configurations: isolation.level; 5.2 WriteTxnMarkerRequest")
"""Only records of no transaction or of a committed one are read, in the order of offsets."""
LIES: tuple[Refuter, ...] = (
    LyingClient(lie="skips-a-record", anomaly="not-read"),
    LyingClient(lie="stale-position", anomaly="position-before-end"),
)
"""What makes every such promise fail, whatever its log."""
SHOWN: tuple[Refuter, ...] = (
    LyingClient(lie="shows-aborted", anomaly="aborted-is-shown"),
    Liar(api="Fetch", fields={"aborted_transactions": []}, anomaly="aborted-is-shown"),
)
"""Likewise, where something was aborted."""
MISREADS: tuple[Refuter, ...] = (
    LyingClient(lie="polls-fail", anomaly="read-failed"),
    LyingClient(lie="repeats-records", anomaly="read-twice"),
    LyingClient(lie="reverses-records", anomaly="out-of-order"),
    LyingClient(lie="shifts-offsets", anomaly="wrong-offset"),
    LyingClient(lie="shows-markers", anomaly="marker-is-shown"),
    LyingClient(lie="forgets-position", anomaly="position-behind"),
    LyingClient(lie="position-ahead", anomaly="position-beyond"),
)
"""Every other way in which a reader may err, for one promise: the check is the same for all."""


def reading_requirement(
    id_: str,
    *,
    statement: str,
    plans: Mapping[str, LogPlan],
    needs: tuple[Need, ...] = (TRANSACTIONS,),
    refuted_by: tuple[Refuter, ...] = (),
    in_group: bool = False,
    **settings: int | str,
) -> Requirement[ClientLab]:
    """One reader of these partitions, each with its plan; the first has records, aborted ones and a marker at its end.

    :param in_group: The reader is the only member of a group and subscribes to the topics.
    :param settings: Of the reader.
    """
    logs = {name: log_of(plan) for name, plan in plans.items()}
    good = story(logs)

    def stimulus(lab: ClientLab) -> None:
        written = [PlannedLog(lab.lab, lab.partition(name)) for name in plans]
        for each in written:
            each.write(plans[each.partition.alias])
        reader = lab.application("reader", transactional=False, group=lab.group() if in_group else None, **settings)  # type: ignore[arg-type]
        reader.subscribe(*(each.partition for each in written))
        read_to_the_end(lab, reader, *(each.partition for each in written))

    def check(seen: Evidence) -> Observations:
        for name in plans:
            as_planned(seen, logs[name], name)
            yield from read_committed(seen, "read", name)

    return Requirement(
        id=id_,
        source=GUARANTEES,
        statement=statement,
        needs=needs,
        stimulus=stimulus,
        check=check,
        accepts=(good, untold(good)),
        refuses=refusals(good),
        refuted_by=(*LIES, *refuted_by),
        order=Order.CALM,
    )


def story(
    logs: Mapping[str, LogTruth],
    *,
    name: str = "read",
    by: str = "reader",
    start: int = 0,
) -> Evidence:
    """A sound reader of these logs, in one poll."""
    records = [record for partition, truth in logs.items() for record in records_of(partition, truth, start=start)]
    ends = [Position(topic=each, partition=1, offset=truth.last_stable_offset) for each, truth in logs.items()]
    polled = call("poll", name=name, by=by, reads=records)
    polled = replace(polled, call=replace(polled.call, positions=tuple(ends)))
    taken = [stable(name, each, truth.last_stable_offset) for each, truth in logs.items()]
    return replace(of_client(polled, logs=logs), steps=tuple(taken))


def records_of(partition: str, truth: LogTruth, *, start: int = 0) -> list[ReadRecord]:
    """The committed records of a log, as a sound consumer delivers them."""
    known = offsets(truth)
    return [
        ReadRecord(topic=partition, partition=1, offset=known[value], value=value)
        for value in truth.committed
        if known[value] >= start
    ]


def refusals(
    good: Evidence, partition: str = "P1", name: str = "read", truth: LogTruth | None = None
) -> tuple[Refusal, ...]:
    """What a reader may do wrong with a log that has records, aborted ones and a marker at its end.

    :param truth: The log, where the evidence has it under another name.
    """
    truth, poll = truth or good.log(partition), next(each for each in good.calls if each.name == name)
    records = list(poll.records)
    known = offsets(truth)
    aborted = [value for value in truth.values() if value not in truth.committed]
    last = max(each.offset for each in records if each.topic == partition)
    changed = {
        "read-twice": [records[0], *records],
        "not-read": records[1:],
        "out-of-order": records[::-1],
        "wrong-offset": [replace(records[0], offset=records[0].offset + 1), *records[1:]],
        "marker-is-shown": [replace(records[0], value="?"), *records],
        "aborted-is-shown": [
            *records,
            *(ReadRecord(topic=partition, partition=1, offset=known[value], value=value) for value in aborted),
        ],
    }
    if not aborted:
        del changed["aborted-is-shown"]
    positions = {
        "position-behind": last,
        "position-beyond": truth.last_stable_offset + 1,
        "position-before-end": last + 1,
    }
    failed = with_call(good, name, outcome="refused", error=LibraryError(type="KafkaException"))
    return (
        *(Refusal(anomaly, with_call(good, name, records=tuple(of))) for anomaly, of in changed.items()),
        *(Refusal(anomaly, at_position(good, partition, offset, poll)) for anomaly, offset in positions.items()),
        Refusal("read-failed", failed),
    )


def at_position(good: Evidence, partition: str, offset: int, poll: ClientCall) -> Evidence:
    """Doctored: the position of that partition."""
    told = (replace(each, offset=offset) if each.topic == partition else each for each in poll.positions)
    return with_call(good, poll.name, positions=tuple(told))


def untold(good: Evidence, names: Iterable[str] = ("read",)) -> Evidence:
    """The same of a library that tells no positions."""
    for name in names:
        good = with_call(good, name, positions=())
    return good
