"""KIP98-READ-08: a log that begins within a transaction is read as before: its records follow their own end.

DeleteRecords (KIP-107) moves the beginning of a log into an aborted transaction (P1), behind all of its records so that
its marker alone is left (P2), and into a batch of a committed one, which a fetch has as a whole (P3). The entry of the
aborted transaction still tells its first offset, which lies below what is fetched (Kafka's ``CompletedFetch`` takes all
entries up to a batch: ``consumeAbortedTransactionsUpTo``); records of a batch below the position are not delivered.

The catalogue has no ids for what a reader keeps; see the package.
"""

from dataclasses import replace

from harness.contract import Observations, Offers, Requirement
from harness.contract.clients.client_doctored import call, of_client, stable
from harness.contract.clients.log_plan import aborts, as_planned, commits, log_of, wrote
from harness.contract.clients.read_expect import read_committed
from harness.evidence.client_evidence import Position
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.committed_reading import read_to_the_end
from harness.lab.clients.planned_log import PlannedLog
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.reading_requirement import GUARANTEES, LIES, SHOWN, records_of, refusals

ABORTED_FIRST = (
    wrote("A", "a1"),
    wrote("A", "a2", "a3"),
    wrote("B", "b1"),
    wrote("A", "a4"),
    aborts("A"),
    commits("B"),
    wrote("A", "a5"),
    commits("A"),
)
COMMITTED_FIRST = (wrote("A", "a1", "a2", "a3"), wrote("B", "b1"), commits("A"), aborts("B"))
PLANS = {"P1": (ABORTED_FIRST, 1), "P2": (ABORTED_FIRST, 5), "P3": (COMMITTED_FIRST, 1)}
LOGS = {name: log_of(plan, start=start) for name, (plan, start) in PLANS.items()}


def stimulus(lab: ClientLab) -> None:
    """Each log is written whole before its beginning is deleted; one reader."""
    parts = []
    for name, (plan, start) in PLANS.items():
        written = PlannedLog(lab.lab, lab.partition(name))
        written.write(plan)
        lab.lab.delete_records(written.partition, before=start)
        parts.append(written.partition)
    reader = lab.application("reader", transactional=False)
    reader.subscribe(*parts)
    read_to_the_end(lab, reader, *parts, deleted=1)  # a1 of P3, in a batch that is still there


def check(seen: Evidence) -> Observations:
    for name, (_, start) in PLANS.items():
        as_planned(seen, LOGS[name], name)
        yield from read_committed(seen, "read", name, start=start)


def _story() -> Evidence:
    records = [each for name, (_, start) in PLANS.items() for each in records_of(name, LOGS[name], start=start)]
    ends = tuple(Position(topic=name, partition=1, offset=truth.high_watermark) for name, truth in LOGS.items())
    polled = call("poll", name="read", by="reader", reads=records)
    told = of_client(replace(polled, call=replace(polled.call, positions=ends)), logs=LOGS)
    taken = (stable("read", name, truth.high_watermark) for name, truth in LOGS.items())
    return replace(told, steps=tuple(taken))


GOOD = _story()

REQUIREMENT = Requirement(
    id="KIP98-READ-08",
    source=GUARANTEES,
    statement="A log whose beginning was deleted within a transaction is read by a read_committed consumer as before.",
    needs=(TRANSACTIONS, Offers("DeleteRecords", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=refusals(GOOD),
    refuted_by=(*LIES, *SHOWN),
)
