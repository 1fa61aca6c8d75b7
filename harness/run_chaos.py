"""The flow of one round of chaos, on one page: the nine steps of :mod:`harness.run`, with faults in the third.

A :class:`~harness.chaos.play.environment.Environment` is what lasts for the session: the cluster and one Spark.
``replay`` (:mod:`harness.app.from_folders.replay`) is steps 8 and 9 on a folder, which another tool may have written.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from harness.base import wait
from harness.chaos.moments.moment import MOMENTS
from harness.chaos.observe.coordinator_probe import probe
from harness.chaos.observe.deleted_topics import ends_of_deleted
from harness.chaos.observe.drain import FETCH_BYTES, Drained, Scope
from harness.chaos.observe.drain import drain as drain_partitions
from harness.chaos.observe.settle import settle as wait_for_rest
from harness.chaos.observe.situation_evidence import situation_records, why_no_states
from harness.chaos.observe.watermark_sampler import sampling
from harness.chaos.plan.chaos_round import Round, save_results
from harness.chaos.plan.phases import phases
from harness.chaos.plan.plan_file import PLAN, write_plan
from harness.chaos.play.casting import ScenarioOutOfReach
from harness.chaos.play.environment import Environment
from harness.chaos.play.fault_runner import run_faults
from harness.chaos.play.judgement_limits import CLIENT_NOTES, DRAIN_NOTES, GATE_ERRORS, limited
from harness.chaos.play.round_context import OUT_OF_REACH, RoundContext, create_round
from harness.chaos.play.used_ids import use_ids
from harness.evidence.history.changed_offer import CHANGED_OFFERS
from harness.evidence.history.judgement import Judgement
from harness.evidence.history.operation import Phase
from harness.evidence.history.unanswered_request import UNANSWERED
from harness.evidence.situations.kept_situations import count_situations, keep_records
from harness.faults.fault_target import Powerless
from harness.faults.frame_toxic import lanes_of
from harness.faults.toxic import PreparedToxic, Toxic
from harness.judge import judge as judge_history
from harness.judge.checks.settled.descriptions import PRODUCERS_ASKED
from harness.judge.stale_brokers import COORDINATORS_KEPT, STATE_PARTITIONS
from harness.report.chaos import publish_round
from harness.spark.history.history_frames import open_history
from harness.spark.history.seal import seal as seal_history
from harness.spark.history.timeline_frames import timeline
from harness.spark.session.spark_session import SparkHandle
from harness.wire.topic_partitions import partition_name

LAST_TRANSACTION_SECONDS = 45.0
"""That a role may take to end its last transaction; a client that is a process of its own may have to start first."""
CLIENTS_SECONDS = 20.0
"""Within which clients that are processes of their own should be there before toxics strike."""
TRAFFIC_SECONDS = 20.0
"""Within which the crowd should be at work before toxics strike."""
PROBE_SECONDS = 20.0
"""Within which every coordinator must serve again after heal."""
SETTLE_MARGIN_SECONDS = 6.0
"""Beyond the longest transaction timeout, for settling: the coordinator's search, and the markers."""
READ_SECONDS = 60.0
"""That a reader may go without a batch that begins or is over, once nothing is written any more."""


def perform(environment: Environment, round_: Round) -> Judgement:
    """One round from a running cluster to its verdict."""
    started = time.monotonic()
    open_target(environment, round_)
    with connect(environment, round_) as context:
        drive(context, round_)
        heal(context)
        settle(context)
        drain(environment, context)
    if why := context.spent:
        environment.replace_cluster(why)
    seal(environment, round_, context)
    judgement = judge(environment.spark, round_.folder)
    round_.add({"seconds": round(time.monotonic() - started, 1)})
    publish(round_.folder)
    return judgement


def open_target(environment: Environment, round_: Round) -> None:
    """Step 1: a cluster as the scenario asks for it, which must answer; ``run.json`` describes it."""
    environment.open_for(round_.scenario.cluster)
    round_.begin(environment.described)


@contextmanager
def connect(environment: Environment, round_: Round) -> Iterator[RoundContext]:
    """Step 2: fresh topics and ids, recording clients, and Spark as a reader; healed and closed in any case."""
    try:
        context = create_round(environment, round_)
    except ScenarioOutOfReach as beyond:
        round_.add({OUT_OF_REACH: str(beyond)})
        publish(round_.folder)
        raise
    try:
        write_plan(round_.folder / PLAN, context.plan)
        context.create_topics()
        use_ids(context)
        prepare(context)
        yield context
    finally:
        context.stop_threads(LAST_TRANSACTION_SECONDS)
        heal(context)
        context.close()


def prepare(context: RoundContext) -> None:
    """Prepare toxics before clients connect; a missing power is reported when the toxic is to strike.

    On a cluster that is not ours the gate goes behind every lane first.
    """
    target = context.fault_target
    if not target.cluster.owned and target.cluster.links is not None:
        target.gate.intercept(*lanes_of(target))
    for toxic in context.scenario.toxics:
        if isinstance(toxic, PreparedToxic):
            with suppress(Powerless):
                toxic.prepare(target)
    for name in {fault.moment for fault in context.plan.faults if fault.moment}:
        with suppress(Powerless):
            target.gate.intercept(*MOMENTS[name].proxies(target))


def drive(context: RoundContext, round_: Round) -> None:
    """Step 3: roles run while toxics strike; watermarks are sampled, and Spark is killed once and goes on."""
    clock = context.fault_target.clock
    context.state_epochs = context.fault_target.view.state_epochs()
    with sampled(context):
        began_ms = clock.now()
        context.reader.start()
        context.start_roles()
        context.await_clients(CLIENTS_SECONDS)
        wait.elapsed_ms_until(lambda: context.stop.is_set() or context.is_at_work(), timeout_seconds=TRAFFIC_SECONDS)
        ready_ms = clock.now()
        context.start_roles(later=True)
        context.start_thread("Spark's restart", lambda: restart_halfway(context, round_.seconds))
        run_faults(
            context.plan.faults,
            context.fault_target,
            context.stop,
            context.note_fault,
            context.struck_moments,
            context.is_at_work,
        )
        context.stop.wait(max(0.0, round_.seconds - (clock.now() - ready_ms) / 1000))
        context.stop_threads(LAST_TRANSACTION_SECONDS)
        context.history_journal.write(*phases(context.faults, began_ms, clock.now()))
        context.note_crowd()


def sampled(context: RoundContext) -> AbstractContextManager[object]:
    """Watermarks of every partition are sampled for the length of the block."""
    target = context.fault_target
    topology = target.cluster.topology
    return sampling(
        topology.lanes["observer"],
        context.partitions,
        context.history_journal,
        target.clock,
        security=topology.secured("observer"),
    )


def restart_halfway(context: RoundContext, seconds: float) -> None:
    """Kill Spark's query in the middle of the round; a round that ends before has no restart in its facts."""
    if not context.stop.wait(seconds / 2):
        context.reader.kill_and_restart()


def heal(context: RoundContext) -> None:
    """Step 4: every link as it was; nothing may be left."""
    links = context.fault_target.cluster.links
    if links is not None and links.disturbed():
        links.reset()
        assert not links.disturbed(), "a toxic survived healing"


def settle(context: RoundContext) -> None:
    """Step 5: probes show whether it serves again; then wait, bounded, for rest. How long it took is evidence."""
    target, partitions = context.fault_target, context.partitions
    began_ms = target.clock.now()
    with sampled(context):
        context.facts["probes"] = probe(
            target, partitions, context.probe_client, prefix=context.real_name("probe"), timeout_seconds=PROBE_SECONDS
        )
        healed_ms = target.clock.now()
        bound = context.longest_timeout_seconds + SETTLE_MARGIN_SECONDS
        settled = wait_for_rest(target, partitions, context.transactional_ids, context.real_name(""), bound)
    context.history_journal.write(Phase(name="heal", started=began_ms, ended=healed_ms))
    context.history_journal.write(Phase(name="settle", started=healed_ms, ended=target.clock.now()))
    context.facts["settle"] = settled
    context.facts[STATE_PARTITIONS] = target.view.state_partitions()
    same = context.state_epochs.items() & target.view.state_epochs().items()
    context.facts[COORDINATORS_KEPT] = [*sorted(partition for partition, _ in same)]


def drain(environment: Environment, context: RoundContext) -> None:
    """Step 6: the raw log, what brokers keep, every read_committed reader up to its end, and the gate's own errors."""
    topology = context.fault_target.cluster.topology
    no_states = why_no_states(context.fault_target, context.struck_moments.moments, striking(context))
    scope = Scope(
        partitions=context.partitions,
        broker_addresses=topology.lanes["observer"],
        reader_addresses=environment.reading.addresses,
        security=topology.secured("observer"),
        reader_security=environment.reading.security,
        fetch_bytes=context.seed.stream("fetch bytes").choice(FETCH_BYTES),
        reader_group=context.real_name("drain"),
        transactional_ids=context.transactional_ids,
        groups=context.groups,
        states_of=None if no_states else context.real_name(""),
        offered={} if context.scenario.upgrades else environment.lasting_offers,
    )
    drained = drain_partitions(scope, context.history_journal, context.fault_target.clock)
    if not drained.high_watermarks:
        environment.wanted.progress("the target is gone: no broker answers; what was recorded is kept and judged")
    gone = [(context.fault_target.topics[name], index) for name, index in context.scenario.passing_partitions]
    context.history_journal.write(*ends_of_deleted(gone, context.fault_target.clock.now()))
    ends = context.reader.finish(drained.high_watermarks, drained.stable_offsets, timeout_seconds=READ_SECONDS)
    context.history_journal.write(*ends)
    context.facts["fetches"] = {"bytes": scope.fetch_bytes, **asdict(drained.fetches)}
    context.facts["spark"] = context.reader.facts()
    if environment.keeps_producers:
        context.facts[PRODUCERS_ASKED] = [partition_name(*each) for each in drained.asked]
    note_situations(context, drained, no_states or drained.lacking)
    context.facts[UNANSWERED] = [asdict(each) for each in drained.unanswered]
    context.facts[CHANGED_OFFERS] = [asdict(each) for each in drained.changed]
    context.facts[DRAIN_NOTES] = [*drained.notes, *context.fault_target.gate_notes()]
    context.facts[GATE_ERRORS] = list(context.fault_target.gate_errors())
    context.facts[CLIENT_NOTES] = list(context.processes.notes())


def note_situations(context: RoundContext, drained: Drained, lacking: str) -> None:
    """What situations are counted from, beside the history; the judge takes nothing from it."""
    records = situation_records(
        toxics=striking(context),
        groups=bool(context.groups),
        moments=context.struck_moments.moments,
        held=context.struck_moments.held,
        states=drained.states,
        terms=drained.terms,
        lacking=lacking,
    )
    keep_records(context.history_journal.folder.parent, records)


def striking(context: RoundContext) -> Sequence[Toxic]:
    """The scenario's toxics that can strike."""
    beyond = context.facts[OUT_OF_REACH]
    assert isinstance(beyond, dict), "reasons by name"
    return [toxic for toxic in context.scenario.toxics if toxic.name not in beyond]


def seal(environment: Environment, round_: Round, context: RoundContext) -> None:
    """Step 7: the history as Parquet; from here nothing touches the network. A failure of ours ends the round here."""
    round_.add({"facts": context.facts, "transactions": dict(context.transactions)})
    if context.failures:
        raise context.failures[0]
    seal_history(environment.spark.spark, round_.folder)


def judge(spark: SparkHandle, folder: Path) -> Judgement:
    """Step 8: DataFrame programs over the sealed history, the same in replay; errors of the gate make it undecided.

    Which situations it shows is counted here too.
    """
    count_situations(folder)
    history = open_history(spark.spark, folder)
    judgement = limited(judge_history(history), history.run)
    save_results(folder, judgement, timeline(history))
    return judgement


def publish(folder: Path) -> Path:
    """Step 9: the page beside the evidence."""
    return publish_round(folder)
