"""The flow of one round of chaos, on one page: the nine steps of :mod:`harness.run`, with a storm in the third.

A :class:`~harness.chaos.ground.Ground` is what lasts for the session: the warm cluster and one Spark. ``replay``
(:mod:`harness.chaos.replay`) is steps 8 and 9 on a folder, which another tool may have written.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from harness.chaos.drain import Scope
from harness.chaos.drain import drain as drain_partitions
from harness.chaos.ground import Ground
from harness.chaos.levels import sampling
from harness.chaos.phases import phases
from harness.chaos.probe import probe
from harness.chaos.round import Round, keep
from harness.chaos.schedule import schedule
from harness.chaos.settle import settle as wait_for_rest
from harness.chaos.site import Powerless
from harness.chaos.stage import Stage, staged
from harness.chaos.storming import storm
from harness.chaos.toxic import Prepared
from harness.history.evidence import Json
from harness.history.judgement import Judgement
from harness.history.operation import Phase
from harness.report.chaos import publish_round
from harness.spark.history import open_history
from harness.spark.judge import judge as judge_history
from harness.spark.seal import seal as seal_history
from harness.spark.session import Session
from harness.spark.timeline import timeline

LEAVING = 20.0
"""Seconds that a role may take to end its last transaction."""
PROBED = 20.0
"""Seconds within which every coordinator must serve again after heal."""
MARGIN = 6.0
"""Seconds beyond the longest transaction timeout that settling may take: the coordinator's search, and the markers."""
READ = 10.0
"""Seconds that a reader may take to the end, once nothing is written any more."""


def perform(ground: Ground, round_: Round) -> Judgement:
    """One round from a running cluster to its verdict."""
    started = time.monotonic()
    open_target(ground, round_)
    with connect(ground, round_) as stage:
        drive(stage, round_)
        heal(stage)
        settle(ground, stage)
        drain(ground, stage)
    seal(ground, round_, stage)
    judgement = judge(ground.spark, round_.folder)
    round_.add({"seconds": round(time.monotonic() - started, 1)})
    publish(round_.folder)
    return judgement


def open_target(ground: Ground, round_: Round) -> None:
    """Step 1: the session's warm cluster, seen to answer, and Spark; the folder says what they are."""
    ground.open()
    round_.begin(ground.described)


@contextmanager
def connect(ground: Ground, round_: Round) -> Iterator[Stage]:
    """Step 2: fresh topics and ids, recording clients, and Spark as a reader; healed and closed in any case."""
    stage = staged(ground, round_)
    try:
        stage.create_topics()
        prepare(stage)
        yield stage
    finally:
        stage.leave(LEAVING)
        heal(stage)
        stage.close()


def prepare(stage: Stage) -> None:
    """What toxics put into the path before anyone connects; one without its power says so when it is to strike."""
    for toxic in stage.scenario.toxics:
        if isinstance(toxic, Prepared):
            with suppress(Powerless):
                toxic.prepare(stage.site)


def drive(stage: Stage, round_: Round) -> None:
    """Step 3: roles play while toxics strike; levels are sampled, and Spark is killed once and goes on."""
    blows = schedule(round_.scenario, stage.shape, round_.seed.stream("schedule"), round_.seconds)
    site, clock = stage.site, stage.site.clock
    with sampling(site.cluster.topology.lanes["observer"], stage.places, stage.chronicle, clock):
        began = clock.now()
        stage.reader.start()
        stage.enter()
        stage.run("Spark's restart", lambda: restart_halfway(stage, round_.seconds))
        storm(blows, site, stage.stop, stage.note_fault)
        stage.stop.wait(max(0.0, round_.seconds - (clock.now() - began) / 1000))
        stage.leave(LEAVING)
        stage.chronicle.write(*phases(stage.faults, began, clock.now()))


def restart_halfway(stage: Stage, seconds: float) -> None:
    """Kill Spark's query in the middle of the round; a round that is over before says so by the absent restart."""
    if not stage.stop.wait(seconds / 2):
        stage.reader.kill_and_restart()


def heal(stage: Stage) -> None:
    """Step 4: every link as it was; nothing may be left."""
    links = stage.site.cluster.links
    if links is not None and links.disturbed():
        links.reset()
        assert not links.disturbed(), "a toxic survived healing"


def settle(ground: Ground, stage: Stage) -> None:
    """Step 5: probes show whether it serves again; then wait, bounded, for rest. How long it took is evidence."""
    clock, began = stage.site.clock, stage.site.clock.now()
    with sampling(stage.site.cluster.topology.lanes["observer"], stage.places, stage.chronicle, clock):
        stage.facts["probes"] = probe(
            stage.site, stage.places, stage.probe_client, prefix=stage.real("probe"), within=PROBED
        )
        healed = clock.now()
        rest = wait_for_rest(stage.site, stage.places, stage.transactional_ids, stage.longest_timeout + MARGIN)
    stage.chronicle.write(Phase(name="heal", started=began, ended=healed))
    stage.chronicle.write(Phase(name="settle", started=healed, ended=clock.now()))
    stage.facts["settle"] = rest
    if stage.unfit(rest):
        ground.replace_cluster("this one did not come to rest")


def drain(ground: Ground, stage: Stage) -> None:
    """Step 6: the raw log, what brokers keep, and every read_committed reader, Spark among them, up to its end."""
    scope = Scope(
        places=stage.places,
        truth=stage.site.cluster.topology.lanes["observer"],
        transactional_ids=stage.transactional_ids,
        groups=stage.groups,
    )
    drained = drain_partitions(scope, stage.chronicle, stage.site.clock)
    if not drained.high_watermarks:
        ground.wanted.progress("the target is gone: no broker answers any more; what was recorded is kept and judged")
    stage.chronicle.write(*stage.reader.finish(drained.high_watermarks, within=READ))
    stage.facts["spark"] = stage.reader.facts()
    stage.facts["drain_notes"] = list(drained.notes)


def seal(ground: Ground, round_: Round, stage: Stage) -> None:
    """Step 7: the history as Parquet; from here nothing touches the network. A crash of ours ends the round here."""
    round_.add({"facts": stage.facts})
    if stage.crashes:
        raise stage.crashes[0]
    seal_history(ground.spark.spark, round_.folder)


def judge(spark: Session, folder: Path) -> Judgement:
    """Step 8: DataFrame programs over the sealed history, the same in replay."""
    history = open_history(spark.spark, folder)
    judgement = judge_history(history)
    judgement = replace(judgement, notes=(*judgement.notes, *drain_notes(history.run)))
    keep(folder, judgement, timeline(history))
    return judgement


def drain_notes(run: Mapping[str, Json]) -> Iterator[str]:
    """What could not be read after the run, as ``run.json`` keeps it."""
    facts = run.get("facts")
    notes = facts.get("drain_notes") if isinstance(facts, dict) else None
    return (str(note) for note in notes) if isinstance(notes, list) else iter(())


def publish(folder: Path) -> Path:
    """Step 9: the page beside the evidence."""
    return publish_round(folder)
