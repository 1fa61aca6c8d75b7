"""Kill controller: the active controller of a quorum of three ends as by ``kill -9``; another one takes over.

Brokers meanwhile register, heartbeat and ask for leaders and producer ids with whoever leads the quorum then (KIP-595,
KIP-631). It is started again with its data after a while. Needs three controllers and the power to kill. Counts
controllers whose place another one had taken while they were away.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base import wait
from harness.base.deferred_action import deferred
from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.faults.brokers.broker_restart import can_kill
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number
from harness.wire.requests.cluster.describe_quorum import DescribeQuorum, DescribeQuorumResult

DOWN_MS = (0, 3_000)
ELECTED_SECONDS = 20.0
"""Within which another controller must lead: fetch timeout, backoff and election of KIP-595 take some 2 to 4 s."""
CAUGHT_UP_SECONDS = 30.0
"""Within which the one that came back must have the log again, so that the next one may be killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerKill:
    """Fills :class:`harness.faults.toxic.Toxic`, and ``MinimumDuration``, so that another one can be elected."""

    name: str = "kill-controller"
    power: Power = Power.PROCESS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.CONTROLLERS,)
    disrupts_broker: bool = True
    seconds: float = 5.0

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:  # noqa: ARG002
        """``down_ms`` before it is started again, once another one leads."""
        return {"down_ms": draw.randint(*DOWN_MS)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Killed on entering; back, with the log, when the block is left.

        :raises Powerless: When there are no other controllers of ours, or none is ours to kill.
        :raises Unprepared: When nobody says who the active one is.
        :raises TimedOut: When no other one is elected, or it does not catch up, within the bound.
        """
        cluster = can_kill(fault_target)
        if len(fault_target.cluster.topology.controllers) < 2:
            raise Powerless("there is one controller alone")
        active = _quorum(fault_target).leader
        strikes = StrikeCount(where=f"controller-{active}", how="active controllers whose place another one took")
        since = fault_target.clock.now()
        cluster.kill(active)
        strikes.moment = since, fault_target.clock.now()
        try:
            successor = wait.until(
                lambda: _other_leader(fault_target, active), what="another controller", timeout_seconds=ELECTED_SECONDS
            )
        except BaseException:
            cluster.restart(active)
            raise
        strikes.struck += 1
        strikes.how += f": {active} → {successor}"
        with deferred(number(chosen, "down_ms") / 1000, lambda: cluster.restart(active)):
            yield strikes
        _await_log(fault_target, active)


def _quorum(fault_target: FaultTarget) -> DescribeQuorumResult:
    """As the active controller has it; :raises Unprepared: when it is not known."""
    quorum = fault_target.to_controller(DescribeQuorum())
    if quorum.error or quorum.leader < 0:
        raise Unprepared(f"DescribeQuorum answered {quorum.error} and names controller {quorum.leader}")
    return quorum


def _other_leader(fault_target: FaultTarget, killed: int) -> int | None:
    """Who leads instead; None while that is nobody."""
    try:
        leader = _quorum(fault_target).leader
    except Unprepared:
        return None
    return None if leader == killed else leader


def _await_log(fault_target: FaultTarget, controller: int) -> None:
    """Wait until it has fetched all that there is now."""
    quorum = _quorum(fault_target)
    end = quorum.voters.get(quorum.leader, 0)
    wait.until(
        lambda: _quorum(fault_target).voters.get(controller, -1) >= end,
        what=f"controller {controller} with the log of the quorum",
        timeout_seconds=CAUGHT_UP_SECONDS,
        interval_seconds=0.1,
    )


TOXIC = ControllerKill()
