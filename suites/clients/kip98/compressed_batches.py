"""KIP98-READ-07: compressed batches follow their transactions like others.

The topics of P2 to P5 compress what is written (``compression.type``; ``LogValidator`` compresses anew what has another
codec, and keeps the batch's header). P1 gets the same batches in the same order, uncompressed; of the others the
observer reads gzip alone. So each reader of P2 to P5 is compared with the log of P1, and the last stable offsets show
that the logs are as long as it. A library without a codec reads the partitions whose codecs it has: an error while it
reads one is a finding of level SHOULD, because no KIP demands a codec of a client.

The catalogue has no ids for what a reader keeps; see the package.
"""

from dataclasses import replace

from harness.contract import NotSeen, Observations, OtherClient, Refusal, Requirement, finding, habit
from harness.contract.clients.client_doctored import call, of_client, stable, with_call
from harness.contract.clients.client_expect import all_said, told
from harness.contract.clients.log_plan import PLAIN, aborts, as_planned, commits, log_of, wrote
from harness.contract.clients.read_expect import read_committed, stable_offset
from harness.evidence.client_evidence import LibraryError, Position
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.committed_reading import read_to_the_end
from harness.lab.clients.planned_log import PlannedLog
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.reading_requirement import GUARANTEES, LIES, SHOWN, records_of, refusals

CODECS = {"P2": "gzip", "P3": "snappy", "P4": "lz4", "P5": "zstd"}
LONG = "-long" * 20
PLAN = (
    wrote("A", f"a1{LONG}", f"a2{LONG}", f"a3{LONG}"),
    wrote("B", f"b1{LONG}", f"b2{LONG}"),
    aborts("A"),
    wrote(PLAIN, f"p1{LONG}", f"p2{LONG}"),
    wrote("B", f"b3{LONG}"),
    commits("B"),
    wrote("A", f"a4{LONG}", f"a5{LONG}"),
    commits("A"),
    wrote("B", f"b4{LONG}", f"b5{LONG}"),
    aborts("B"),
)
TRUTH = log_of(PLAN)


def stimulus(lab: ClientLab) -> None:
    """The log five times, and a reader of each of the compressed ones."""
    for name in ("P1", *CODECS):
        codec = CODECS.get(name)
        configs = {"compression.type": codec} if codec else None
        written = PlannedLog(lab.lab, lab.lab.partition(name, configs=configs))
        written.write(PLAN)
        if codec is None:
            plain = written.partition
            continue
        lab.lab.placement.partitions.remove(written.partition)  # its codec may be one that the observer does not read
        reader = lab.application(codec, transactional=False)
        reader.subscribe(written.partition)
        read_to_the_end(lab, reader, written.partition, as_=codec, like=plain)


def check(seen: Evidence) -> Observations:
    as_planned(seen, TRUTH)
    for name, codec in CODECS.items():
        if stable_offset(seen, codec, name) != TRUTH.high_watermark:
            raise NotSeen(f"the log of {name} is not as long as that of P1")
        failed = [each for each in all_said(seen, codec) if not each.done]
        if failed:
            yield habit(finding("codec-not-read", f"{codec}: {told(failed[0])}"))
        else:
            yield from read_committed(replace(seen, logs={name: seen.log()}), codec, name, by=codec)


def _story() -> Evidence:
    polls = [call("poll", name=codec, by=codec, reads=records_of(name, TRUTH)) for name, codec in CODECS.items()]
    ends = [Position(topic=name, partition=1, offset=TRUTH.high_watermark) for name in CODECS]
    polled = (replace(poll, call=replace(poll.call, positions=(end,))) for poll, end in zip(polls, ends, strict=True))
    taken = (stable(codec, name, TRUTH.high_watermark) for name, codec in CODECS.items())
    return replace(of_client(*polled, logs={"P1": TRUTH}), steps=tuple(taken))


GOOD = _story()
FAILED = LibraryError(type="UnsupportedCodecError")

REQUIREMENT = Requirement(
    id="KIP98-READ-07",
    source=GUARANTEES,
    statement="A read_committed consumer delivers the committed records of compressed batches alone.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(each for each in refusals(GOOD, "P2", "gzip", truth=TRUTH) if each.anomaly != "read-failed"),
        Refusal("codec-not-read", with_call(GOOD, "zstd", outcome="refused", error=FAILED, records=())),
    ),
    refuted_by=(
        *LIES,
        *SHOWN,
        OtherClient(client="kafkajs:2.2.4", anomaly="codec-not-read"),
    ),
)
