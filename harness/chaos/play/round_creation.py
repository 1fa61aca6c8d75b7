"""A round's context from what its scenario wants and what the target offers; nothing is created on the cluster yet."""

from collections.abc import Mapping
from typing import cast

from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.crowd import CrowdedWorkload
from harness.chaos.plan.scenario import Scenario
from harness.chaos.play.environment import Environment
from harness.chaos.play.round_context import (
    OUT_OF_REACH,
    PROBER,
    READER,
    ClientsNotOffered,
    RoundContext,
    ScenarioOutOfReach,
    shape_of,
)
from harness.chaos.play.round_crowd import RoundCrowd
from harness.chaos.play.within_reach import lost, sentences
from harness.clients.client import Adapter
from harness.clients.stdio.client_processes import RunningClients
from harness.clients.stdio.stdio_adapter import StdioAdapter
from harness.clients.wire.wire_adapter import ADAPTERS, WireAdapter
from harness.evidence.history.history_journal import HistoryJournal
from harness.spark.readers.resumable_reader import ResumableReader


def create_round(environment: Environment, round_: Round) -> RoundContext:
    """The context of a round in the session's environment; nothing is created on the cluster yet.

    :raises ScenarioOutOfReach: When no toxic of the scenario can strike there.
    :raises ClientsNotOffered: When the target offers none of the scenario's clients what they need.
    """
    scenario, name = round_.scenario, environment.next_round(round_.seed.value)
    out_of_reach = _out_of_reach(environment, scenario)
    processes = RunningClients(record=environment.record_client)
    adapters = _offered(environment, scenario, processes)
    if not any(adapter.kind in ADAPTERS for adapter in adapters):
        round_.seed.stream("clients").shuffle(adapters)
    topics = {topic: f"{name}-{topic}" for topic in scenario.workload.topics}
    ids = {role.transactional_id for role in scenario.workload.roles() if role.transactional_id is not None}
    fault_target = environment.fault_target(topics, {each: f"{name}-{each}" for each in ids}, processes)
    reader = ResumableReader(
        spark=environment.spark.spark,
        bootstrap=environment.reading.bootstrap,
        topics=list(topics.values()),
        folder=round_.folder / "spark" / READER,
        security=environment.reading.security,
        group=f"{name}-spark",
    )
    context = RoundContext(
        scenario=scenario,
        seed=round_.seed,
        environment=environment,
        name=name,
        fault_target=fault_target,
        history_journal=HistoryJournal(round_.folder / "history"),
        adapters=adapters,
        prober=next((each for each in adapters if each.kind in ADAPTERS), ADAPTERS[PROBER]),
        processes=processes,
        reader=reader,
        facts={"clients": [adapter.kind for adapter in adapters], OUT_OF_REACH: dict(out_of_reach)},
    )
    context.crowd = crowd_beside(context)
    return context


def crowd_beside(context: RoundContext) -> RoundCrowd | None:
    """The scenario's crowd; none on a cluster that is not ours, unless load is allowed there."""
    environment, scenario = context.environment, context.scenario
    if scenario.crowd is None or not (environment.open().owned or environment.wanted.permissions.load):
        return None
    able = [each for each in ADAPTERS.values() if _lacking(environment, scenario, each) is None]
    return RoundCrowd(
        crowd=scenario.crowd,
        workload=cast(CrowdedWorkload, scenario.workload),
        protocols=[each.transactions for each in context.adapters if isinstance(each, WireAdapter)]
        or [each.transactions for each in able if isinstance(each, WireAdapter)],
        seed=context.seed,
        bootstrap=context.bootstrap,
        id_prefix=context.real_name(""),
        topics=dict(context.topics),
        clock=context.fault_target.clock,
        history_journal=context.history_journal,
        stop=context.stop,
    )


def _out_of_reach(environment: Environment, scenario: Scenario) -> Mapping[str, str]:
    """The toxics that can strike nothing on this target, with the reason, which is told once in a session."""
    found = lost(scenario.toxics, shape_of(scenario, environment))
    if scenario.toxics and len(found) == len(scenario.toxics):
        raise ScenarioOutOfReach("; ".join(sentences(found)).replace("out of reach: ", ""))
    environment.tell_out_of_reach(found)
    return found


def _offered(environment: Environment, scenario: Scenario, processes: RunningClients) -> list[Adapter]:
    programs = {name: StdioAdapter(command=each, processes=processes) for name, each in environment.programs.items()}
    adapters: Mapping[str, Adapter] = {**ADAPTERS, **programs}
    lacks = {name: _lacking(environment, scenario, adapters[name]) for name in scenario.clients}
    able = [adapters[name] for name, lack in lacks.items() if lack is None]
    if not able:
        raise ClientsNotOffered("; ".join(filter(None, lacks.values())))
    return able


def _lacking(environment: Environment, scenario: Scenario, adapter: Adapter) -> str | None:
    if scenario.protocol is not None and adapter.protocol != scenario.protocol:
        needed = f"{scenario.name} needs clients of Transactions {scenario.protocol.upper()}"
        return f"{needed}, and of {adapter.kind} that is not known"
    return environment.lacking(adapter)
