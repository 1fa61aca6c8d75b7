"""The flow of one round of chaos, on one page: the nine steps of :mod:`harness.run`, with a storm in the third.

A :class:`~harness.chaos.play.environment.Environment` is what lasts for the session: the warm cluster and one Spark.
``replay`` (:mod:`harness.app.replay`) is steps 8 and 9 on a folder, which another tool may have written.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from harness.base.json_value import Json
from harness.chaos.observe.coordinator_probe import probe
from harness.chaos.observe.drain import Scope
from harness.chaos.observe.drain import drain as drain_partitions
from harness.chaos.observe.settle import settle as wait_for_rest
from harness.chaos.observe.watermark_sampler import sampling
from harness.chaos.plan.chaos_round import Round, keep
from harness.chaos.plan.phases import phases
from harness.chaos.plan.schedule import schedule
from harness.chaos.play.environment import Environment
from harness.chaos.play.fault_runner import run_faults
from harness.chaos.play.round_context import RoundContext, create_round
from harness.evidence.judgement import Judgement
from harness.evidence.operation import Phase
from harness.faults.fault_target import Powerless
from harness.faults.toxic import PreparedToxic
from harness.judge import judge as judge_history
from harness.report.chaos import publish_round
from harness.spark.history.history_frames import open_history
from harness.spark.history.seal import seal as seal_history
from harness.spark.history.timeline_frames import timeline
from harness.spark.session.spark_session import SparkHandle

LEAVING = 20.0
"""Seconds that a role may take to end its last transaction."""
PROBED = 20.0
"""Seconds within which every coordinator must serve again after heal."""
MARGIN = 6.0
"""Seconds beyond the longest transaction timeout that settling may take: the coordinator's search, and the markers."""
READ = 10.0
"""Seconds that a reader may take to the end, once nothing is written any more."""


def perform(environment: Environment, round_: Round) -> Judgement:
    """One round from a running cluster to its verdict."""
    started = time.monotonic()
    open_target(environment, round_)
    with connect(environment, round_) as round_context:
        drive(round_context, round_)
        heal(round_context)
        settle(environment, round_context)
        drain(environment, round_context)
    seal(environment, round_, round_context)
    judgement = judge(environment.spark, round_.folder)
    round_.add({"seconds": round(time.monotonic() - started, 1)})
    publish(round_.folder)
    return judgement


def open_target(environment: Environment, round_: Round) -> None:
    """Step 1: the session's warm cluster, seen to answer, and Spark; the folder says what they are."""
    environment.open()
    round_.begin(environment.described)


@contextmanager
def connect(environment: Environment, round_: Round) -> Iterator[RoundContext]:
    """Step 2: fresh topics and ids, recording clients, and Spark as a reader; healed and closed in any case."""
    round_context = create_round(environment, round_)
    try:
        round_context.create_topics()
        prepare(round_context)
        yield round_context
    finally:
        round_context.leave(LEAVING)
        heal(round_context)
        round_context.close()


def prepare(round_context: RoundContext) -> None:
    """What toxics put into the path before anyone connects; one without its power says so when it is to strike."""
    for toxic in round_context.scenario.toxics:
        if isinstance(toxic, PreparedToxic):
            with suppress(Powerless):
                toxic.prepare(round_context.fault_target)


def drive(round_context: RoundContext, round_: Round) -> None:
    """Step 3: roles play while toxics strike; levels are sampled, and Spark is killed once and goes on."""
    planned_faults = schedule(round_.scenario, round_context.shape, round_.seed.stream("schedule"), round_.seconds)
    fault_target, clock = round_context.fault_target, round_context.fault_target.clock
    with sampling(
        fault_target.cluster.topology.lanes["observer"], round_context.places, round_context.history_writer, clock
    ):
        began = clock.now()
        round_context.reader.start()
        round_context.enter()
        round_context.run("Spark's restart", lambda: restart_halfway(round_context, round_.seconds))
        run_faults(planned_faults, fault_target, round_context.stop, round_context.note_fault)
        round_context.stop.wait(max(0.0, round_.seconds - (clock.now() - began) / 1000))
        round_context.leave(LEAVING)
        round_context.history_writer.write(*phases(round_context.faults, began, clock.now()))


def restart_halfway(round_context: RoundContext, seconds: float) -> None:
    """Kill Spark's query in the middle of the round; a round that is over before says so by the absent restart."""
    if not round_context.stop.wait(seconds / 2):
        round_context.reader.kill_and_restart()


def heal(round_context: RoundContext) -> None:
    """Step 4: every link as it was; nothing may be left."""
    links = round_context.fault_target.cluster.links
    if links is not None and links.disturbed():
        links.reset()
        assert not links.disturbed(), "a toxic survived healing"


def settle(environment: Environment, round_context: RoundContext) -> None:
    """Step 5: probes show whether it serves again; then wait, bounded, for rest. How long it took is evidence."""
    clock, began = round_context.fault_target.clock, round_context.fault_target.clock.now()
    with sampling(
        round_context.fault_target.cluster.topology.lanes["observer"],
        round_context.places,
        round_context.history_writer,
        clock,
    ):
        round_context.facts["probes"] = probe(
            round_context.fault_target,
            round_context.places,
            round_context.probe_client,
            prefix=round_context.real("probe"),
            within=PROBED,
        )
        healed = clock.now()
        rest = wait_for_rest(
            round_context.fault_target,
            round_context.places,
            round_context.transactional_ids,
            round_context.longest_timeout + MARGIN,
        )
    round_context.history_writer.write(Phase(name="heal", started=began, ended=healed))
    round_context.history_writer.write(Phase(name="settle", started=healed, ended=clock.now()))
    round_context.facts["settle"] = rest
    if round_context.unfit(rest):
        environment.replace_cluster("this one did not come to rest")


def drain(environment: Environment, round_context: RoundContext) -> None:
    """Step 6: the raw log, what brokers keep, and every read_committed reader, Spark among them, up to its end."""
    scope = Scope(
        places=round_context.places,
        truth=round_context.fault_target.cluster.topology.lanes["observer"],
        transactional_ids=round_context.transactional_ids,
        groups=round_context.groups,
    )
    drained = drain_partitions(scope, round_context.history_writer, round_context.fault_target.clock)
    if not drained.high_watermarks:
        environment.wanted.progress(
            "the target is gone: no broker answers any more; what was recorded is kept and judged"
        )
    round_context.history_writer.write(*round_context.reader.finish(drained.high_watermarks, within=READ))
    round_context.facts["spark"] = round_context.reader.facts()
    round_context.facts["drain_notes"] = list(drained.notes)


def seal(environment: Environment, round_: Round, round_context: RoundContext) -> None:
    """Step 7: the history as Parquet; from here nothing touches the network. A crash of ours ends the round here."""
    round_.add({"facts": round_context.facts})
    if round_context.crashes:
        raise round_context.crashes[0]
    seal_history(environment.spark.spark, round_.folder)


def judge(spark: SparkHandle, folder: Path) -> Judgement:
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
