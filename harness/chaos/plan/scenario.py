"""A scenario: a workload, the clients that run it, the toxics that may strike. One file each.

A workload is a set of roles; each role is one thread with its own transactional id and its own stream of draws. Once
a write is unsure the role's actor is retired, and a successor with a new name goes on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from harness.base.json_value import Json
from harness.chaos.plan.crowd import Crowd
from harness.cluster.cluster import ClusterOptions
from harness.faults.toxic import Toxic, ToxicReach

if TYPE_CHECKING:
    from harness.chaos.play.actor import Actor

LANES = ("victim", "rival")
"""Of clients; producers take them in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One thread of a workload.

    :param name: Its actors are called ``<name>``, ``<name>.2``, ``<name>.3`` …
    :param transactional_id: Shared by roles that are to fence each other; None for one that only reads.
    :param run: Drives the actor until ``actor.over``; called in a thread of its own.
    :param lane: ``victim`` or ``rival``.
    :param group: Consumer group, for a role that consumes.
    :param fresh_ids: Each successor takes a transactional id of its own, so that the transaction that
        its predecessor left open is not fenced or ended by it.
    :param epochs_left: How many epochs of its producer id are left to the transactional id of its first client, and
        with ``fresh_ids`` to that of each successor; later ones have all, as each has on a cluster that is not ours.
    :param timeout_ms: ``transaction.timeout.ms``.
    :param request_ms: What a client gives one operation, retries included.
    """

    name: str
    transactional_id: str | None
    run: "Callable[[Actor, Random], None]"
    lane: str = "victim"
    group: str | None = None
    fresh_ids: bool = False
    epochs_left: Sequence[int] = ()
    timeout_ms: int = 6_000
    request_ms: int = 3_000


def numbered(count: int, role: Role) -> Sequence[Role]:
    """So many alike: ``<name>-0`` and so on, which is each one's transactional id too; lanes in turn."""
    return [
        replace(role, name=name, transactional_id=name, lane=LANES[number % len(LANES)])
        for number, name in enumerate(f"{role.name}-{number}" for number in range(count))
    ]


class Workload(Protocol):
    """What clients do."""

    @property
    def name(self) -> str:
        """``transfer``, ``relay``, ``interleave``, ``zombies``, ``silence``."""

    @property
    def topics(self) -> Mapping[str, int]:
        """Topic (by the workload's name for it) to number of partitions."""

    def roles(self) -> Sequence[Role]:
        """What runs at the same time."""


@runtime_checkable
class PassingWorkload(Protocol):
    """A workload some of whose topics may be deleted while clients write to them."""

    @property
    def passing(self) -> Sequence[str]:
        """Which of its topics. Nobody reads them, and what they held is not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFault:
    """A fault that the schedule planned.

    :param at_ms: When it begins, from the beginning of the fault schedule.
    :param duration_ms: How long it is on.
    :param chosen: What the toxic drew.
    :param moment: What it waits for from then on (:mod:`harness.chaos.moments.moment`); empty for nothing.
    :param state: In which the transactional id is to be whose request makes the moment; empty for any.
    """

    toxic: Toxic
    at_ms: float
    duration_ms: float
    chosen: Mapping[str, Json]
    moment: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioCluster:
    """What a scenario's cluster is started with instead of what all others share.

    :param properties: Of all nodes, by Kafka's names; the user's own win.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    controllers: int = 1

    def of(self, options: ClusterOptions) -> ClusterOptions:
        """The options of such a cluster."""
        return replace(options, properties={**self.properties, **options.properties}, controllers=self.controllers)

    def __str__(self) -> str:
        """A phrase for people; empty where it is as all others."""
        several = [f"{self.controllers} controllers"] if self.controllers > 1 else []
        return ", ".join([*several, *(f"{key}={value}" for key, value in sorted(self.properties.items()))])


COMMON = ScenarioCluster()
"""The cluster that scenarios share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What ``fencepost chaos`` runs.

    :param title: One sentence for the report.
    :param clients: Adapters, given to the roles in turn.
    :param toxics: Those that the schedule draws from; each strikes at least once when time allows.
    :param client_toxics: Those that are added where clients are processes of their own.
    :param protocol: The transaction protocol without which the promise does not hold under these toxics; None where
        any will do.
    :param seconds: Length of fault windows and quiet periods together.
    :param priority: Scenarios with a lower number come first in a session whose budget does not reach for all.
    :param clients_are_judged: Whether somebody chose the clients, so that it is they as well who are tried.
    :param survivable: False where the faults go beyond what the cluster promises; then liveness is judged after heal.
    :param crowd: Producers that bring volume, beside the workload's roles.
    :param cluster: What its nodes are started with; where that cannot be, toxics that need it are out of reach.
    """

    name: str
    title: str
    workload: Workload
    clients: Sequence[str]
    toxics: Sequence[Toxic] = ()
    client_toxics: Sequence[Toxic] = ()
    protocol: Literal["v1", "v2"] | None = None
    seconds: float = 20.0
    priority: int = 5
    clients_are_judged: bool = False
    survivable: bool = True
    crowd: Crowd | None = None
    cluster: ScenarioCluster = COMMON

    @property
    def upgrades(self) -> bool:
        """Whether it needs a cluster that is to be upgraded: nothing else can strike in it."""
        return bool(self.toxics) and all(toxic.acts_on == (ToxicReach.RELEASES,) for toxic in self.toxics)

    @property
    def passing(self) -> Sequence[str]:
        """Topics that may be deleted, by the workload's names."""
        return self.workload.passing if isinstance(self.workload, PassingWorkload) else ()

    @property
    def lasting(self) -> Mapping[str, int]:
        """All other topics, with the number of their partitions: what is read and judged."""
        return {name: count for name, count in self.workload.topics.items() if name not in self.passing}

    @property
    def partitions(self) -> Sequence[tuple[str, int]]:
        """Every partition of these."""
        return [(name, index) for name, count in self.lasting.items() for index in range(count)]

    @property
    def passing_partitions(self) -> Sequence[tuple[str, int]]:
        """Every partition of a topic that may be deleted."""
        return [(name, index) for name in self.passing for index in range(self.workload.topics[name])]

    @property
    def has_groups(self) -> bool:
        """Whether a role of its workload is in a consumer group."""
        return any(role.group for role in self.workload.roles())

    def played_by(self, clients: Sequence[str]) -> "Scenario":
        """The same with other clients, which are processes of their own, and nobody beside them."""
        toxics = (*self.toxics, *self.client_toxics)
        return replace(self, clients=clients, clients_are_judged=True, toxics=toxics, crowd=None)
