"""Round folders as chaos would leave them, made up: a broken round, a clean one, one that never was judged.

The report's selfchecks read them; so may a person: ``python -m suites.selfcheck.chaos_round FOLDER`` publishes a
session of three rounds.
"""

import dataclasses
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.history.chronicle import CHAOS_FORMAT, Chronicle
from harness.history.codec import to_json
from harness.history.evidence import Json
from harness.history.judgement import CheckResult, Found, Judgement, Neighbourhood
from harness.history.operation import FaultWindow, LogRecord, Operation, Outcome
from harness.history.timeline import ActorSpan, Drawn, Latency, LevelLine, LevelPoint, Pace, Tally, Timeline
from harness.history.timeline import save_timeline as save
from suites.selfcheck.chaos_play import END, FAULTS, LATE_AT, PARTITIONS, PHASES, STUCK, TOPIC, Play, played
from suites.selfcheck.chaos_play import tables as tables_of

HOSTILE = "<script>alert('x')</script> & \"quoted\" {{ 7 * 7 }} ]]> \u202e"
RUN: dict[str, Json] = {
    "format": CHAOS_FORMAT,
    "kind": "chaos",
    "target": "kafka:3.5.2",
    "identity": "Kafka 3.5.2 from Maven, three brokers, process backend",
    "backend": "process",
    "backend_why": "no Docker engine answers, Java 17.0.16 is on the PATH",
    "versions": {"kafka": "3.5.2", "java": "17.0.16", "toxiproxy": "2.12.0", "spark": "4.0.0"},
    "seed": 8128,
    "scenario": "late-produce",
    "title": "Produce requests reach the broker after their transaction has ended.",
    "workload": "transfer",
    "clients": ["wire-v1", "librdkafka"],
    "toxics": ["late-produce", "latency", "move-coordinator", "drop-response", "kill"],
    "command": "fencepost chaos kafka:3.5.2 --budget 5m --seed 8127",
    "again": "fencepost chaos kafka:3.5.2 --scenarios late-produce --seed 8128 --seconds 20 --backend process",
    "started": "2026-11-20T02:14:03+00:00",
    "seconds": 38.4,
    "fencepost": "0.1.0",
    "facts": {"full_isr_ms": 812.4, "no_open_transaction_ms": None, "retries": 3},
}
SOUND = (
    ("views-agree-with-the-log", "Every reader delivers exactly the committed log", 1_104),
    ("transactions-are-whole", "A transaction is visible as a whole or not at all", 251),
    ("ends-are-obeyed", "What was aborted or refused stays invisible", 59),
    ("money-adds-up", "The amounts of committed money records sum to 0", 251),
    ("identities-are-unique", "No producer id and epoch is handed out twice", 27),
)


def broken(folder: Path, *, hostile: bool = False) -> Path:
    """A round in which a late record was accepted: its transaction hangs, and the last stable offset is stuck."""
    play = played()
    run = {**RUN, "title": HOSTILE, "again": HOSTILE, "workload": HOSTILE} if hostile else RUN
    judgement = _judgement(play)
    if hostile:
        judgement = dataclasses.replace(judgement, notes=(HOSTILE,), checks=(_hostile(), *judgement.checks))
    return write(folder, run, judgement, play)


def clean(folder: Path) -> Path:
    """A round in which everything that was examined held; one check was not exercised."""
    told = {"target": "kafka:4.3.1", "identity": "Kafka 4.3.1 from Maven, three brokers, process backend"}
    run = {**RUN, **told, "scenario": "transfer-brokers-die", "seed": 8129, "title": "Brokers die under transfers."}
    run["again"] = "fencepost chaos kafka:4.3.1 --scenarios transfer-brokers-die --seed 8129 --seconds 20"
    return write(folder, run, Judgement(checks=(*_sound(), _unread())), None)


def unjudged(folder: Path) -> Path:
    """A round that ended before it was judged: all that is there is ``run.json``."""
    folder.mkdir(parents=True)
    run = {**RUN, "scenario": "relay-rebalances", "seed": 8130, "seconds": None, "title": "Consumers come and go."}
    _write_run(folder, run)
    return folder


def write(folder: Path, run: Mapping[str, Json], judgement: Judgement, play: Play | None) -> Path:
    """A round's folder with its history, judgement and timeline; without ``play`` without the latter two's tables."""
    folder.mkdir(parents=True)
    _write_run(folder, run)
    (folder / "judgement.json").write_text(to_json(judgement), encoding="utf-8")
    if play is not None:
        chronicle = Chronicle(folder / "history")
        for rows in tables_of(play).values():
            chronicle.write(*rows)
        chronicle.close()
        save(folder, timeline(play))
    return folder


def timeline(play: Play) -> Timeline:
    """The picture's values, counted in plain Python; every operation that can be drawn is."""
    drawable = [each for each in play.operations if each.verb != "begin"]
    return Timeline(
        started=0.0,
        ended=END,
        operations=len(play.operations),
        drawable=len(drawable),
        committed=sum(each.verb == "commit" and each.outcome is Outcome.DONE for each in play.operations),
        drawn=tuple(_drawn(each) for each in drawable),
        actors=_actors(play.operations),
        actors_in_all=len({each.actor for each in play.operations}),
        levels=tuple(_levels(play, place) for place in range(PARTITIONS)),
        partitions_in_all=PARTITIONS,
        paces=tuple(_pace(play.operations, second * 1_000.0) for second in range(int(END / 1_000))),
        latencies=_latencies(play.operations),
        tallies=_tallies(play.operations),
        faults=tuple(sorted(FAULTS, key=lambda fault: fault.started)),
        faults_in_all=len(FAULTS),
        phases=PHASES,
    )


def _write_run(folder: Path, run: Mapping[str, Json]) -> None:
    (folder / "run.json").write_text(json.dumps(run, ensure_ascii=False), encoding="utf-8")


def _judgement(play: Play) -> Judgement:
    assert play.stranded is not None
    assert play.late is not None
    end, kept = play.ends()[STUCK], play.hanging()
    behind, since = end.high_watermark - end.last_stable_offset, round(END - LATE_AT)
    place = {"topic": TOPIC, "partition": STUCK, "offset": play.stranded, "actor": play.late.actor}
    whose = {"producer_id": kept.producer_id, "epoch": kept.epoch, "txn": play.late.txn}
    around = Neighbourhood(
        operations=tuple(row(each) for each in play.operations if each.txn == play.late.txn),
        faults=tuple(row(each) for each in FAULTS if each.started <= LATE_AT <= each.ended),
        log=tuple(row(each) for each in play.log[STUCK] if abs(each.offset - play.stranded) <= 7),
    )
    stuck = Found(
        anomaly="stuck-lso",
        detail=f"{TOPIC}-{STUCK}: last stable offset {end.last_stable_offset}, high watermark {end.high_watermark}, "
        f"{behind} records invisible for {since} ms; producer {kept.producer_id} holds it",
        lasted_ms=float(since),
        operations=(play.late.number,),
        around=around,
        **place,  # type: ignore[arg-type]
        **whose,  # type: ignore[arg-type]
    )
    hanging = dataclasses.replace(
        stuck,
        anomaly="hanging-transaction",
        detail=f"{TOPIC}-{STUCK} keeps transaction {play.late.txn} open from offset {play.stranded}; no marker ends it",
        lasted_ms=None,
        view="log",
    )
    check = CheckResult(
        name="nothing-is-left-open",
        statement="After settling no transaction is open and the last stable offset has reached the high watermark",
        witnesses=PARTITIONS,
        counts={"hanging-transaction": 1, "stuck-lso": 1},
        findings=(hanging, stuck),
        seconds=0.41,
    )
    return Judgement(checks=(*_sound(), check, _unread()))


def _sound() -> tuple[CheckResult, ...]:
    return tuple(
        CheckResult(name=name, statement=statement, witnesses=witnesses, seconds=0.2)
        for name, statement, witnesses in SOUND
    )


def _unread() -> CheckResult:
    return CheckResult(
        name="offsets-and-records-agree",
        statement="A group's offsets are committed with the outputs of what it consumed, or not at all",
        witnesses=0,
        reason="no operation of this history commits offsets",
    )


def _hostile() -> CheckResult:
    log = LogRecord(
        topic=HOSTILE,
        partition=0,
        offset=5,
        batch_offset=5,
        producer_id=1,
        epoch=0,
        sequence=0,
        transactional=True,
        value=f"7/0/2/{HOSTILE}",
    )
    fault = FaultWindow(name=HOSTILE, kind=HOSTILE, where=HOSTILE, started=1.0, ended=2.0, struck=0, how=HOSTILE)
    found = Found(
        anomaly="aborted-read",
        detail=HOSTILE,
        view=HOSTILE,
        actor=HOSTILE,
        topic=HOSTILE,
        partition=0,
        offset=5,
        around=Neighbourhood(
            operations=({"number": 1, "verb": HOSTILE, "actor": HOSTILE, "reason": HOSTILE, "error": HOSTILE},),
            faults=(row(fault),),
            log=(row(log), {"unexpected": HOSTILE}),
        ),
    )
    counts = {"aborted-read": 41}
    return CheckResult(name=HOSTILE, statement=HOSTILE, witnesses=1, counts=counts, findings=(found,))


def row(event: object) -> dict[str, Json]:
    """An event as the judge's neighbourhoods hold it: a plain row of its table."""
    plain: dict[str, Json] = json.loads(to_json(event))
    return plain


def _drawn(each: Operation) -> Drawn:
    return Drawn(
        number=each.number,
        actor=each.actor,
        verb=each.verb,
        outcome=each.outcome,
        started=each.started,
        ended=each.ended,
        error=each.error,
        reason=each.reason,
        txn=each.txn,
        place=None if each.topic is None else f"{each.topic}-{each.partition}",
        offset=each.offset,
    )


def _actors(operations: Sequence[Operation]) -> tuple[ActorSpan, ...]:
    names = sorted({each.actor for each in operations})
    by_name = {name: [each for each in operations if each.actor == name] for name in names}
    spans = [
        ActorSpan(
            actor=name,
            client=own[0].client,
            started=min(each.started for each in own),
            ended=max(each.ended for each in own),
            operations=len(own),
            refused=sum(each.outcome is Outcome.REFUSED for each in own),
            unsure=sum(each.outcome is Outcome.UNSURE for each in own),
        )
        for name, own in by_name.items()
    ]
    return tuple(sorted(spans, key=lambda span: (span.started, span.actor)))


def _levels(play: Play, place: int) -> LevelLine:
    own = [level for level in play.levels if level.partition == place]
    end = play.ends()[place]
    return LevelLine(
        topic=TOPIC,
        partition=place,
        points=tuple(
            LevelPoint(at=each.at, high_watermark=each.high_watermark, last_stable_offset=each.last_stable_offset)
            for each in own
        ),
        samples=len(own),
        end=LevelPoint(at=END, high_watermark=end.high_watermark, last_stable_offset=end.last_stable_offset),
    )


def _pace(operations: Sequence[Operation], at: float) -> Pace:
    ended = [each for each in operations if at <= each.ended < at + 1_000]
    done = [each for each in ended if each.outcome is Outcome.DONE]
    return Pace(
        at=at,
        txns=sum(each.verb == "commit" for each in done),
        records=sum(each.verb == "produce" for each in done),
        refused=sum(each.outcome is Outcome.REFUSED for each in ended),
        unsure=sum(each.outcome is Outcome.UNSURE for each in ended),
    )


def _latencies(operations: Sequence[Operation]) -> tuple[Latency, ...]:
    def phase_of(at: float) -> str:
        return next((phase.name for phase in PHASES if phase.started <= at < phase.ended), "")

    took: dict[tuple[str, str], list[float]] = {}
    for each in operations:
        took.setdefault((each.verb, phase_of(each.started)), []).append(each.ended - each.started)
    return tuple(_latency(*key, sorted(all_of)) for key, all_of in sorted(took.items()))


def _latency(verb: str, phase: str, took: Sequence[float]) -> Latency:
    p50, p95, p99 = (took[math.ceil(len(took) * share) - 1] for share in (0.5, 0.95, 0.99))
    return Latency(verb=verb, phase=phase, count=len(took), p50=p50, p95=p95, p99=p99, longest=took[-1])  # type: ignore[arg-type]


def _tallies(operations: Sequence[Operation]) -> tuple[Tally, ...]:
    own: dict[tuple[str, str, int], list[Operation]] = {}
    for each in operations:
        own.setdefault((each.verb, each.outcome.value, -2 if each.error is None else each.error), []).append(each)
    tallies = [
        Tally(
            verb=all_of[0].verb,
            outcome=all_of[0].outcome,
            error=all_of[0].error,
            count=len(all_of),
            reason=all_of[0].reason,
        )
        for _, all_of in sorted(own.items())
    ]
    return tuple(sorted(tallies, key=lambda tally: -tally.count))


if __name__ == "__main__":
    from harness.report.chaos import conclude_session, publish_round, publish_session, round_line

    home = Path(sys.argv[1])
    rounds = [broken(home / "001-late-produce"), clean(home / "002-brokers-die"), unjudged(home / "003-relay")]
    for number, each in enumerate(rounds, start=1):
        publish_round(each)
        round_line(sys.stdout, each, number=number, of=len(rounds))
    conclude_session(sys.stdout, home, rounds, publish_session(home, rounds))
