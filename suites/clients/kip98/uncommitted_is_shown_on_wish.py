"""KIP98-READ-03: a read_uncommitted consumer delivers everything but markers, in the order of offsets.

KIP-98 promises it of ``isolation.level``; it is also what shows that the aborted and open records that a read_committed
consumer leaves out really stand in the log. Beside it reads a read_committed one, of the same log at the same time.

The catalogue has no ids for what a reader keeps; see the package.
"""

from dataclasses import replace

from harness.contract import LyingClient, Observations, Refusal, Requirement
from harness.contract.clients.client_doctored import call, of_client, stable, with_call
from harness.contract.clients.log_plan import PLAIN, aborts, as_planned, commits, log_of, wrote
from harness.contract.clients.read_expect import offsets, read_committed, read_everything
from harness.evidence.client_evidence import ReadRecord
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.committed_reading import read_to_the_end
from harness.lab.clients.planned_log import PlannedLog
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.reading_requirement import GUARANTEES, records_of, refusals

PLAN = (
    wrote("A", "a1", "a2"),
    wrote("B", "b1"),
    aborts("A"),
    wrote(PLAIN, "p1"),
    wrote("B", "b2"),
    commits("B"),
    wrote("A", "a3"),
    aborts("A"),
    wrote("B", "b3"),
    commits("B"),
)
TRUTH = log_of(PLAN)


def stimulus(lab: ClientLab) -> None:
    """Both readers, one after the other."""
    written = PlannedLog(lab.lab, lab.partition("P1"))
    written.write(PLAN)
    for name, isolation in (("raw", "read_uncommitted"), ("reader", "read_committed")):
        reader = lab.application(name, transactional=False, isolation=isolation)
        reader.subscribe(written.partition)
        read_to_the_end(lab, reader, written.partition, as_=f"{name} read")


def check(seen: Evidence) -> Observations:
    as_planned(seen, TRUTH)
    yield from read_everything(seen, "raw read", by="raw")
    yield from read_committed(seen, "reader read", by="reader")


def _story() -> Evidence:
    places = offsets(TRUTH)
    everything = [ReadRecord(topic="P1", partition=1, offset=places[value], value=value) for value in TRUTH.values()]
    told = of_client(
        call("poll", name="raw read", by="raw", reads=everything),
        call("poll", name="reader read", reads=records_of("P1", TRUTH), by="reader"),
        logs={"P1": TRUTH},
    )
    taken = [stable(name, "P1", TRUTH.high_watermark) for name in ("raw read", "reader read")]
    return replace(told, steps=tuple(taken))


GOOD = _story()
RAW = GOOD.calls[0].records

REQUIREMENT = Requirement(
    id="KIP98-READ-03",
    source=GUARANTEES,
    statement="A read_uncommitted consumer delivers every record, a read_committed one beside it the committed ones.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(
            each
            for each in refusals(GOOD, name="reader read")
            if each.anomaly in ("aborted-is-shown", "not-read", "out-of-order")
        ),
        Refusal("not-read", with_call(GOOD, "raw read", records=tuple(records_of("P1", TRUTH)))),
        Refusal("read-twice", with_call(GOOD, "raw read", records=(RAW[0], *RAW))),
    ),
    refuted_by=(
        LyingClient(lie="shows-aborted", anomaly="aborted-is-shown"),
        LyingClient(lie="skips-a-record", anomaly="not-read"),
    ),
)
