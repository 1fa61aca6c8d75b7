"""Nodes that are started with another release on their own data, one by one, and feature levels that are moved.

The steps of one upgrade must follow each other, so they are one toxic: up, levels, back down. Between two of them the
workload goes on for a while on brokers of mixed releases. Needs a cluster that was started with another release
(``--upgrade``). Counts nodes that came back with the other release, and levels that every broker then showed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from harness.base import wait
from harness.base.json_value import Json
from harness.cluster.cluster import RunRelease
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number, numbers
from harness.kafka.leaders.moving import elect_preferred

CAUGHT_UP_SECONDS = 30.0
"""Within which every replica must be in sync again before the next node is stopped."""
Move: TypeAlias = Literal["up", "down"]
METADATA, TRANSACTION = "metadata.version", "transaction.version"
SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS = 500, 3_000
"""Between two nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizedLevel:
    """A feature level to be finalized; None is the highest that every broker supports."""

    feature: str
    level: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseChange:
    """Fills :class:`harness.faults.toxic.Toxic`, and ``MinimumDuration``: so long that a round has one.

    :param steps: Done one after the other.
    """

    name: str
    steps: Sequence[Move | FinalizedLevel]
    power: Power = Power.PROCESS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.RELEASES,)
    disrupts_broker: bool = True
    seconds: float = 60.0

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``brokers`` in the order in which they change, and ``pause_ms`` after each node and each level."""
        order = draw.sample(shape.brokers, len(shape.brokers))
        return {"brokers": [*order], "pause_ms": draw.randint(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """All steps are done before the block begins; the nodes stay as the last step left them.

        :raises Powerless: When the target's nodes cannot run another release.
        :raises UserError: When a node does not start again.
        :raises Unprepared: When the controller refuses a level.
        :raises TimedOut: When replicas do not catch up, or a level is not shown, within the bound.
        """
        cluster = _can_change_release(fault_target)
        strikes = StrikeCount(where="", how="nodes that came back with the other release, and levels that were shown")
        pause_seconds = number(chosen, "pause_ms") / 1000
        for step in self.steps:
            match step:
                case "up":
                    changes = _forward(fault_target, cluster, numbers(chosen, "brokers"))
                case "down":
                    changes = _back(fault_target, cluster, numbers(chosen, "brokers"))
                case FinalizedLevel():
                    changes = _finalized(fault_target, step)
            for told in changes:
                strikes.struck += 1
                strikes.where = "; ".join(filter(None, (strikes.where, told)))
                wait.pause(pause_seconds)
        yield strikes


def _finalized(fault_target: FaultTarget, wanted: FinalizedLevel) -> Iterator[str]:
    """Nothing where the release does not know the level."""
    highest = fault_target.admin.highest_level(wanted.feature)
    level = highest if wanted.level is None else wanted.level
    if highest > 0 and level <= highest:
        fault_target.admin.finalize(wanted.feature, level)
        yield f"{wanted.feature}={level}"


def _can_change_release(fault_target: FaultTarget) -> RunRelease:
    """The target's cluster; :raises Powerless: when its nodes run one release alone."""
    if not isinstance(fault_target.cluster, RunRelease):
        raise Powerless(f"nodes of the {fault_target.cluster.backend} backend run one release alone")
    return fault_target.cluster


def _forward(fault_target: FaultTarget, cluster: RunRelease, brokers: Sequence[int]) -> Iterator[str]:
    """Each node from the release that it was started with first to the target's own, controllers before brokers."""
    for node in (*_controllers(fault_target), *brokers):
        yield _changed(fault_target, cluster, node, None)


def _back(fault_target: FaultTarget, cluster: RunRelease, brokers: Sequence[int]) -> Iterator[str]:
    """Each node back to the release that it was started with first, brokers before controllers."""
    for node in (*brokers, *_controllers(fault_target)):
        yield _changed(fault_target, cluster, node, cluster.started_with(node))


def _controllers(fault_target: FaultTarget) -> Sequence[int]:
    return fault_target.cluster.topology.controllers


def _changed(fault_target: FaultTarget, cluster: RunRelease, node: int, release: str | None) -> str:
    """Start it with the release, and wait until every replica has caught up; what was done, in words."""
    cluster.run_release(node, release)
    if node in fault_target.brokers:
        fault_target.client.refresh(node)
        fault_target.await_registered(node)
        wait.until(fault_target.replicated, what="full ISR", timeout_seconds=CAUGHT_UP_SECONDS, interval_seconds=0.05)
        elect_preferred(fault_target)
    return f"node {node} to {release or 'the target'}"
