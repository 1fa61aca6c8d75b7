"""KIP98-READ-05: where a fetch ends does not matter: in the middle of a transaction, at its marker, or behind it.

A broker gives each fetch at least one whole batch (KIP-74), so with a limit of one byte each has exactly one: every
batch is larger than the limit, every marker comes alone, and an aborted transaction's entry comes with batches in
which it did not begin and whose marker is in another fetch; where two aborted ones overlap, with both entries. Two
other limits end fetches at other batches.

The catalogue has no ids for what a reader keeps; see the package.
"""

from dataclasses import replace

from harness.contract import NotLooked, Observations, OtherClient, Requirement
from harness.contract.clients.client_doctored import call, frame, of_client, stable
from harness.contract.clients.client_expect import sent
from harness.contract.clients.log_plan import aborts, as_planned, commits, log_of, wrote
from harness.contract.clients.read_expect import read_committed
from harness.evidence.client_evidence import Position
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.committed_reading import read_to_the_end
from harness.lab.clients.planned_log import PlannedLog
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.reading_requirement import GUARANTEES, LIES, SHOWN, records_of, refusals

PLAN = (
    wrote("A", "a1", "a2"),
    wrote("B", "b1"),
    wrote("A", "a3"),
    wrote("B", "b2", "b3"),
    aborts("A"),
    wrote("B", "b4"),
    commits("B"),
    wrote("A", "a4"),
    commits("A"),
    commits("B"),
    wrote("B", "b5"),
    wrote("A", "a5"),
    aborts("B"),
    commits("A"),
    wrote("C", "c1"),
    wrote("D", "d1"),
    wrote("D", "d2"),
    wrote("C", "c2"),
    aborts("C"),
    wrote("D", "d3", "d4"),
    aborts("D"),
    aborts("A"),
)
TRUTH = log_of(PLAN)
LIMITS = (1, 160, 330)
"""Bytes of a fetch: a batch or marker here has 70 to 90."""


def stimulus(lab: ClientLab) -> None:
    """A reader with each limit."""
    written = PlannedLog(lab.lab, lab.partition("P1"))
    written.write(PLAN)
    for limit in LIMITS:
        reader = lab.application(f"by{limit}", transactional=False, fetch_bytes=limit)
        reader.subscribe(written.partition)
        read_to_the_end(lab, reader, written.partition, as_=f"read by {limit}")


def check(seen: Evidence) -> Observations:
    as_planned(seen, TRUTH)
    for limit in LIMITS:
        yield from read_committed(seen, f"read by {limit}", by=f"by{limit}")
    fetches, batches = len(sent(seen, "Fetch", by="by1")), len(seen.log().batches)
    if fetches < batches:
        yield NotLooked(what=f"single batches: {fetches} fetches of {batches} batches")


def _story() -> Evidence:
    end = Position(topic="P1", partition=1, offset=TRUTH.high_watermark)
    fetched = tuple(frame("Fetch", 12) for _ in TRUTH.batches)
    polls = [
        call("poll", name=f"read by {limit}", by=f"by{limit}", reads=records_of("P1", TRUTH), frames=fetched)
        for limit in LIMITS
    ]
    told = of_client(*(replace(each, call=replace(each.call, positions=(end,))) for each in polls), logs={"P1": TRUTH})
    taken = (stable(f"read by {limit}", "P1", TRUTH.high_watermark) for limit in LIMITS)
    return replace(told, steps=tuple(taken))


GOOD = _story()

REQUIREMENT = Requirement(
    id="KIP98-READ-05",
    source=GUARANTEES,
    statement="A read_committed consumer delivers committed records alone, wherever its fetches end.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=refusals(GOOD, name="read by 1"),
    refuted_by=(*LIES, *SHOWN, OtherClient(client="kafkajs:2.2.4", anomaly="aborted-is-shown")),
)
