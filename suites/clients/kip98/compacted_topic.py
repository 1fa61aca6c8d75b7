"""KIP98-READ-09: a compacted log is read as before: over batches with gaps, empty ones, and markers of what is gone.

The cleaner takes out overwritten records and all aborted ones, and keeps the offsets of each batch, each producer's
last batch even when it is empty, and markers for a while (Kafka: ``Cleaner.cleanInto``). Of the first batch the last
records are gone: the Java client then goes on behind the batch, and not behind its last record
(``CompletedFetch.nextFetchedRecord``), else it would fetch the batch again. One reader gets each batch in a fetch of
its own, so that an empty one is all that a fetch has.

The cleaner looks for work every 15 s (``log.cleaner.backoff.ms``) and leaves the newest segment as it is; the topic
begins a new one with each batch (``segment.ms``).

The catalogue has no ids for what a reader keeps; see the package.
"""

from dataclasses import replace

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.contract import NotSeen, Observations, OtherClient, Requirement
from harness.contract.clients.client_doctored import call, of_client, stable
from harness.contract.clients.log_plan import aborts, commits, log_of, wrote
from harness.contract.clients.read_expect import offsets, read_committed
from harness.evidence.client_evidence import Position, ReadRecord
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.committed_reading import read_to_the_end
from harness.lab.clients.planned_log import PlannedLog
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.reading_requirement import GUARANTEES, LIES, refusals

COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.0",
    "min.compaction.lag.ms": "0",
    "segment.ms": "1",
}
CLEANED_SECONDS = 50.0
"""Three times the cleaner's pause: it may have just begun, and may find this log after others."""
PLAN = (
    wrote("A", "a1", "a2", "a3", keys=("k1", "k2", "k3")),
    commits("A"),
    wrote("B", "b1", keys=("k1",)),
    aborts("B"),
    wrote("A", "a4", "a5", keys=("k2", "k4")),
    commits("A"),
    wrote("C", "c1", "c2", keys=("k1", "k9")),
    aborts("C"),
    wrote("A", "a6", keys=("k3",)),
    commits("A"),
    wrote("A", "a7", keys=("k5",)),
    commits("A"),
)
READERS = {"reader": 1_048_576, "single": 1}
"""With their limits of a fetch: the second gets each batch alone, an empty one too."""
GONE = frozenset({"a2", "a3", "b1", "c1", "c2"})


def stimulus(lab: ClientLab) -> None:
    """Both readers, once the cleaner has been there."""
    written = PlannedLog(lab.lab, lab.lab.partition("P1", configs=COMPACTED))
    written.write(PLAN)

    def cleaned() -> bool:
        return GONE.isdisjoint(lab.lab.observer.log(written.partition).values())

    if wait.elapsed_ms_until(cleaned, timeout_seconds=CLEANED_SECONDS, interval_seconds=1.0) is None:
        raise Unprepared(f"the cleaner has not compacted the log within {CLEANED_SECONDS:g} s")
    for name, limit in READERS.items():
        reader = lab.application(name, transactional=False, fetch_bytes=limit)
        reader.subscribe(written.partition)
        read_to_the_end(lab, reader, written.partition, as_=f"{name} reads")


def check(seen: Evidence) -> Observations:
    if not GONE.isdisjoint(seen.log().values()):
        raise NotSeen("the log is not compacted")
    for name in READERS:
        yield from read_committed(seen, f"{name} reads", by=name)


def _story() -> Evidence:
    """The plan's log without what is gone, and a reader of the rest."""
    whole = log_of(PLAN)
    left = [replace(each, values=tuple(value for value in each.values if value not in GONE)) for each in whole.batches]
    committed = tuple(value for value in whole.committed if value not in GONE)
    truth, places = replace(whole, batches=tuple(left), committed=committed), offsets(whole)
    records = [ReadRecord(topic="P1", partition=1, offset=places[value], value=value) for value in committed]
    end = Position(topic="P1", partition=1, offset=truth.high_watermark)
    polls = [call("poll", name=f"{name} reads", by=name, reads=records) for name in READERS]
    told = of_client(*(replace(each, call=replace(each.call, positions=(end,))) for each in polls), logs={"P1": truth})
    return replace(told, steps=tuple(stable(f"{name} reads", "P1", truth.high_watermark) for name in READERS))


GOOD = _story()

REQUIREMENT = Requirement(
    id="KIP98-READ-09",
    source=GUARANTEES,
    statement="A read_committed consumer delivers what is left of committed records in a compacted log, in order.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=tuple(each for each in refusals(GOOD, name="reader reads") if each.anomaly != "wrong-offset"),
    refuted_by=(
        *LIES,
        OtherClient(client="kafkajs:2.2.4", anomaly="not-read"),
    ),
)
