"""KIP98-READ-06: nothing at or behind the last stable offset is delivered, and the rest comes once it has moved.

While a transaction is open, what lies behind its first record is held back too: records of no transaction, and
committed and aborted ones (KIP-98, 5.2 "WriteTxnMarkerRequest": the last stable offset keeps the order). Two
transactions are open at first. When the earlier one is committed the offset moves to the later one's first record, and
when that one is aborted, to the end. The same consumer reads on each time.

The catalogue has no ids for what a reader keeps; see the package.
"""

from dataclasses import replace

from harness.contract import LyingClient, Observations, Refusal, Requirement
from harness.contract.clients.client_doctored import call, of_client, stable, with_call
from harness.contract.clients.log_plan import PLAIN, aborts, as_planned, commits, log_of, wrote
from harness.contract.clients.read_expect import offsets, read_committed
from harness.evidence.client_evidence import Position, ReadRecord
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.committed_reading import read_to_the_end
from harness.lab.clients.planned_log import PlannedLog
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.reading_requirement import GUARANTEES, LIES, SHOWN, refusals

OPENED = (
    wrote("A", "a1"),
    commits("A"),
    wrote(PLAIN, "p1"),
    wrote("A", "a2"),
    wrote("C", "c1"),
    commits("C"),
    wrote("B", "b1"),
    wrote("C", "c2"),
    aborts("C"),
    wrote(PLAIN, "p2"),
    wrote("A", "a3"),
)
PHASES = (("both open", OPENED), ("one open", (commits("A"),)), ("none open", (aborts("B"), wrote(PLAIN, "p3"))))
TRUTH = log_of([action for _, plan in PHASES for action in plan])


def stimulus(lab: ClientLab) -> None:
    """One reader, before and after each end."""
    written = PlannedLog(lab.lab, lab.partition("P1"))
    reader = lab.application("reader", transactional=False)
    for number, (name, plan) in enumerate(PHASES):
        written.write(plan)
        if number == 0:
            reader.subscribe(written.partition)
        read_to_the_end(lab, reader, written.partition, as_=name)


def check(seen: Evidence) -> Observations:
    as_planned(seen, TRUTH)
    for name, _ in PHASES:
        yield from read_committed(seen, name)


def _story() -> Evidence:
    """The last stable offset is at a2, then at b1, then at the end."""
    places = offsets(TRUTH)
    ends = (places["a2"], places["b1"], TRUTH.high_watermark)
    polls, begin = [], 0
    for (name, _), end in zip(PHASES, ends, strict=True):
        given = [value for value in TRUTH.committed if begin <= places[value] < end]
        records = [ReadRecord(topic="P1", partition=1, offset=places[value], value=value) for value in given]
        polled = call("poll", name=name, by="reader", reads=records)
        at = Position(topic="P1", partition=1, offset=end)
        polls.append(replace(polled, call=replace(polled.call, positions=(at,))))
        begin = end
    taken = [stable(name, "P1", end) for (name, _), end in zip(PHASES, ends, strict=True)]
    return replace(of_client(*polls, logs={"P1": TRUTH}), steps=tuple(taken))


GOOD = _story()
FIRST, SECOND, LAST = GOOD.calls
EARLY = with_call(GOOD, FIRST.name, records=(*FIRST.records, *SECOND.records), positions=SECOND.positions)
BEFORE_ITS_MARKER = tuple(replace(each, offset=each.offset - 1) for each in SECOND.positions)

REQUIREMENT = Requirement(
    id="KIP98-READ-06",
    source=GUARANTEES,
    statement="Nothing behind the first record of an open transaction is delivered; what is committed comes later.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(each for each in refusals(GOOD, name=LAST.name) if each.anomaly in ("not-read", "aborted-is-shown")),
        *(each for each in refusals(GOOD, name=FIRST.name) if each.anomaly == "read-failed"),
        Refusal("position-beyond", with_call(GOOD, FIRST.name, positions=SECOND.positions)),
        Refusal("position-before-end", with_call(GOOD, SECOND.name, positions=BEFORE_ITS_MARKER)),
        Refusal("open-is-shown", with_call(with_call(EARLY, FIRST.name, positions=()), SECOND.name, records=())),
    ),
    refuted_by=(
        *LIES,
        *SHOWN,
        LyingClient(lie="shows-aborted", anomaly="open-is-shown"),
    ),
)
