"""The plan of a round, as data: who plays, which faults strike when and with what, for how long.

It is drawn from the seed before anything starts, and written into the round's folder. What a role does is drawn while
it plays, from a stream of its own (``Seed.stream``), and a fault's choices stand in the plan; so a plan from which a
role or a fault is taken away leaves what the others do as it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.base.seed import Seed
from harness.chaos.moments.drawn_moments import at_moments
from harness.chaos.plan.scenario import PlannedFault, Role, Scenario
from harness.chaos.plan.schedule import schedule
from harness.faults.toxic import ClusterShape, out_of_reach


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRole:
    """A role of the workload that plays.

    :param client: The adapter that plays it.
    :param at_ms: When it begins, from the beginning of the fault schedule.
    :param transactions: After so many it begins no other; None for as many as there is time for.
    """

    name: str
    client: str
    at_ms: float = 0
    transactions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlan:
    """Everything that fixes a round on a target.

    :param scenario: Its name; its workload and what it promises come from there.
    :param seconds: Length of fault windows and quiet periods together.
    :param prober: The adapter that probes each coordinator after heal.
    :param crowd: How many producers of the scenario's crowd play beside the roles.
    :param roles: In the workload's order.
    """

    scenario: str
    seed: int
    seconds: float
    prober: str
    roles: tuple[PlannedRole, ...]
    faults: tuple[PlannedFault, ...] = ()
    crowd: int = 0

    @property
    def clients(self) -> tuple[str, ...]:
        """Every adapter that plays, each once."""
        return tuple(dict.fromkeys(role.client for role in self.roles))

    def role(self, name: str) -> PlannedRole:
        """The role of a name; :raises StopIteration: when it does not play."""
        return next(role for role in self.roles if role.name == name)

    def within_reach(self, shape: ClusterShape) -> "RoundPlan":
        """The same without faults that can strike nothing on a cluster of this shape."""
        return replace(self, faults=tuple(each for each in self.faults if out_of_reach(each.toxic, shape) is None))


def draw_plan(
    scenario: Scenario, seed: Seed, seconds: float, shape: ClusterShape, *, roles: Sequence[PlannedRole], prober: str
) -> RoundPlan:
    """The plan of a round; pure, the same draws give the same plan."""
    return RoundPlan(
        scenario=scenario.name,
        seed=seed.value,
        seconds=seconds,
        prober=prober,
        roles=tuple(roles),
        faults=drawn_faults(scenario, seed, seconds, shape),
        crowd=scenario.crowd.seats if scenario.crowd else 0,
    )


def drawn_faults(scenario: Scenario, seed: Seed, seconds: float, shape: ClusterShape) -> tuple[PlannedFault, ...]:
    """The faults that a seed draws, with the moments that they wait for."""
    faults = schedule(scenario, shape, seed.stream("schedule"), seconds)
    return at_moments(faults, scenario, shape, seed.stream(f"moments/{scenario.name}"))


def cast_roles(roles: Sequence[Role], clients: Sequence[str], *, one_library_a_group: bool) -> tuple[PlannedRole, ...]:
    """Clients given to the roles in turn.

    :param one_library_a_group: Members must know one assignor in common, and what libraries offer by default differs.
    """
    turns: dict[str, int] = {}
    planned = []
    for index, role in enumerate(roles, start=1):
        shared = role.group if role.group and one_library_a_group else role.name
        client = clients[turns.setdefault(shared, index) % len(clients)]
        planned.append(PlannedRole(name=role.name, client=client))
    return tuple(planned)
