"""What a round is played with on a target: clients that can play there, toxics that can strike there, the plan."""

from collections.abc import Mapping, Sequence

from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.round_plan import RoundPlan, cast_roles, draw_plan
from harness.chaos.plan.scenario import Scenario
from harness.chaos.play.environment import Environment
from harness.chaos.play.within_reach import lost, sentences
from harness.clients.client import Adapter
from harness.clients.stdio.client_processes import RunningClients
from harness.clients.stdio.stdio_adapter import StdioAdapter
from harness.clients.wire.wire_adapter import ADAPTERS, WireAdapter
from harness.faults.toxic import ClusterShape, ToxicReach
from harness.kafka.transaction_protocol import TransactionProtocol

PROBER = "wire-v1"
"""The adapter that probes where libraries play the roles: whether the cluster serves must not depend on them."""


class ScenarioOutOfReach(Exception):
    """No toxic of the scenario can strike anything on this target; the text says why."""


class ClientsNotOffered(Exception):
    """The target does not offer what the scenario's clients need; the text names it."""


def offered_clients(environment: Environment, round_: Round, processes: RunningClients) -> list[Adapter]:
    """Those of the scenario's clients that can play, libraries in an order from the seed; of a plan's all must.

    :raises ClientsNotOffered: When none can, or one of a plan's cannot.
    """
    programs = {name: StdioAdapter(command=each, processes=processes) for name, each in environment.programs.items()}
    adapters: Mapping[str, Adapter] = {**ADAPTERS, **programs}
    lacks = {name: _lacking(environment, round_.scenario, adapters[name]) for name in round_.scenario.clients}
    able = [adapters[name] for name, lack in lacks.items() if lack is None]
    if not able or (round_.plan and len(able) < len(lacks)):
        raise ClientsNotOffered("; ".join(filter(None, lacks.values())))
    if not any(adapter.kind in ADAPTERS for adapter in able):
        round_.seed.stream("clients").shuffle(able)
    return able


def _lacking(environment: Environment, scenario: Scenario, adapter: Adapter) -> str | None:
    if scenario.protocol is not None and adapter.protocol != scenario.protocol:
        needed = f"{scenario.name} needs clients of Transactions {scenario.protocol.upper()}"
        return f"{needed}, and of {adapter.kind} that is not known"
    return environment.lacking(adapter)


def offers_v2(environment: Environment) -> bool:
    """Whether clients of Transactions V2 can play on the target."""
    return any(environment.lacking(each) is None for each in ADAPTERS.values() if each.protocol == "v2")


def crowd_protocols(
    environment: Environment, scenario: Scenario, adapters: Sequence[Adapter]
) -> Sequence[TransactionProtocol]:
    """Those of the wire clients that play; where none does, all that the target offers."""
    offered = [each for each in ADAPTERS.values() if _lacking(environment, scenario, each) is None]
    playing = [each for each in adapters if isinstance(each, WireAdapter)] or offered
    return [each.transactions for each in playing if isinstance(each, WireAdapter)]


def plan_of(round_: Round, shape: ClusterShape, adapters: Sequence[Adapter]) -> RoundPlan:
    """The round's plan, as far as it can strike on a cluster of this shape; else one that the seed draws."""
    if round_.plan is not None:
        return round_.plan.within_reach(shape)
    roles = cast_roles(
        round_.scenario.workload.roles(),
        [adapter.kind for adapter in adapters],
        one_library_a_group=any(isinstance(adapter, StdioAdapter) for adapter in adapters),
    )
    prober = next((each.kind for each in adapters if each.kind in ADAPTERS), PROBER)
    return draw_plan(round_.scenario, round_.seed, round_.seconds, shape, roles=roles, prober=prober)


def shape_of(scenario: Scenario, environment: Environment) -> ClusterShape:
    """What the schedule may depend on."""
    return shape_on(scenario, environment.open().topology.brokers, environment.reach)


def shape_for(scenario: Scenario, environment: Environment) -> ClusterShape:
    """The same on the cluster that the scenario would get; one must be running."""
    return shape_on(scenario, environment.open().topology.brokers, environment.reach_for(scenario.cluster))


def shape_on(scenario: Scenario, brokers: tuple[int, ...], reach: frozenset[ToxicReach]) -> ClusterShape:
    """The same on a cluster of these brokers; a fault on a lane without clients would strike nothing."""
    roles = scenario.workload.roles()
    ids = dict.fromkeys(role.transactional_id for role in roles if role.transactional_id)
    return ClusterShape(
        brokers=brokers,
        lanes=tuple(dict.fromkeys(role.lane for role in roles)),
        topics=scenario.lasting,
        passing=tuple(scenario.passing),
        transactional_ids=tuple(ids),
        reach=reach,
    )


def beyond_reach(environment: Environment, scenario: Scenario) -> Mapping[str, str]:
    """The toxics that can strike nothing on this target, with the reason, which is told once in a session.

    :raises ScenarioOutOfReach: When that are all.
    """
    found = lost(scenario.toxics, shape_of(scenario, environment))
    if scenario.toxics and len(found) == len(scenario.toxics):
        raise ScenarioOutOfReach("; ".join(sentences(found)).replace("out of reach: ", ""))
    environment.tell_out_of_reach(found)
    return found
