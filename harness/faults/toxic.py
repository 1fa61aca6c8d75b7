"""The port of a toxic: drawn purely from the seed, put on a fault target, with a count of what it struck.

One toxic is one file under ``toxics/`` that binds ``TOXIC``. Two toxics that need the same power never overlap, and at
most one of those that disrupt a broker is on at a time, so that faults stay within what a cluster of three promises
to survive.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol, runtime_checkable

from harness.base.json_value import Json
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_rule import Strike


class Power(StrEnum):
    """What a toxic needs to itself while it is on."""

    NETWORK = "network"
    PROCESS = "process"
    LEADERSHIP = "leadership"
    FRAMES = "frames"
    CLIENTS = "clients"


class ToxicReach(StrEnum):
    """What a toxic acts on. On a cluster that is not ours only a part of it is within reach."""

    LANES = "lanes"  # between clients and brokers: a proxy, and the gate behind it
    LINKS = "links"  # between brokers, and from them to the controller
    PROCESSES = "processes"  # of brokers
    LEADERS = "leaders"  # by Kafka's own administration
    CLIENTS = "clients"  # that are processes of their own
    DISKS = "disks"  # that brokers write to
    RELEASES = "releases"  # that the nodes of the cluster are started with
    CODE = "code"  # of brokers, by rules that are loaded into their JVMs
    SETTINGS = "settings"  # that the nodes are started with, as the scenario asks for it
    CONTROLLERS = "controllers"  # of which others go on
    TOPICS = "topics"  # of the round, which are ours on every cluster


LACKS: Mapping[ToxicReach, str] = {
    ToxicReach.LANES: "no proxy stands between clients and brokers",
    ToxicReach.LINKS: "the links between brokers are not ours",
    ToxicReach.PROCESSES: "the brokers are not ours to stop",
    ToxicReach.LEADERS: "leaders cannot be moved: that takes a second broker, and on a cluster that is not ours"
    " --allow-changes",
    ToxicReach.CLIENTS: "no client is a process of its own",
    ToxicReach.DISKS: "writes of the brokers cannot be let fail (only those of brokers of ours)",
    ToxicReach.RELEASES: "nothing is to be upgraded (--upgrade 3.9.2..4.3.1)",
    ToxicReach.CODE: "no rule can be loaded into the brokers' JVMs",
    ToxicReach.SETTINGS: "the brokers cannot be started with the scenario's settings",
    ToxicReach.CONTROLLERS: "there is no quorum of three controllers that are ours to kill",
    ToxicReach.TOPICS: "no topic of the round is to be deleted",
}
"""Why something is out of reach, as a clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterShape:
    """What a draw may depend on: the cluster's shape, never its state.

    :param reach: What toxics may act on; those that act on nothing else than the rest are not drawn.
    :param topics: Topic to number of partitions (by the scenario's own names, such as ``accounts``).
    :param passing: Topics beside these that may be deleted.
    :param transactional_ids: Of the workload's roles.
    """

    brokers: tuple[int, ...] = (1, 2, 3)
    lanes: tuple[str, ...] = ("victim", "rival")
    topics: Mapping[str, int]
    transactional_ids: tuple[str, ...]
    passing: tuple[str, ...] = ()
    reach: frozenset[ToxicReach] = frozenset(ToxicReach)


@dataclass(slots=True, kw_only=True)
class StrikeCount:
    """What a strike counted; filled by the toxic while it is on and when it heals.

    :param where: The link, lane, node or partition, in words, for the report.
    :param how: What ``struck`` counts, in words.
    :param moved: Partitions that another broker came to lead, by name; None where it may be any.
    :param clock_off_ms: By how much the clock of a broker is ahead; below 0 it is behind.
    :param moment: Between which two times of the run's clock it came on, where the toxic knows that better than from
        when it was entered until it was on.
    :param requests: Of one that strikes single requests: the first of those, and then it has no other moment.
    """

    where: str
    how: str
    struck: int = 0
    moved: tuple[str, ...] | None = None
    clock_off_ms: int | None = None
    moment: tuple[float, float] | None = None
    requests: tuple[Strike, ...] | None = None


class Toxic(Protocol):
    """A fault. Values only; all state lives in the context that ``strike`` returns."""

    @property
    def name(self) -> str:
        """Kebab-case, unique: ``one-way-cut``."""

    @property
    def power(self) -> Power:
        """What it needs to itself."""

    @property
    def acts_on(self) -> tuple[ToxicReach, ...]:
        """What it strikes; where there are several, one that is within reach is enough."""

    @property
    def disrupts_broker(self) -> bool:
        """Whether a broker is down, or cut off, while it is on."""

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """What to strike and how hard: pure, so that one seed fixes it."""

    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:
        """On for the length of the block, with what was drawn; on leaving, healed, also after an error.

        Healing twice does no harm.

        :raises Powerless: When this target lacks the power; the fault window is then recorded with no strike.
        """


def out_of_reach(toxic: Toxic, shape: ClusterShape) -> str | None:
    """Why the toxic can strike nothing there, as a clause; None when it can."""
    if shape.reach.intersection(toxic.acts_on):
        return None
    return " and ".join(LACKS[each] for each in toxic.acts_on)


@runtime_checkable
class MinimumDuration(Protocol):
    """A toxic that has no effect within a short fault window; the schedule asks ``isinstance``."""

    @property
    def seconds(self) -> float:
        """How long it has to be on."""


@runtime_checkable
class AimedToxic(Protocol):
    """A toxic of which a strike may concern one transactional id only; the schedule asks ``isinstance``."""

    def aimed_at_all(self, chosen: Mapping[str, Json]) -> Mapping[str, Json]:
        """What was drawn, for a strike that concerns every transactional id."""


@runtime_checkable
class DeletingToxic(Protocol):
    """A toxic after which records may be gone before a reader has come to them."""

    @property
    def deletes_records(self) -> bool:
        """True."""


@runtime_checkable
class PreparedToxic(Protocol):
    """A toxic that puts something into the path before anyone connects."""

    def prepare(self, fault_target: FaultTarget) -> None:
        """Changes nothing that a client could notice; :raises Powerless: when this target lacks the power."""
