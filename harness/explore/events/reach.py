"""Which events can be brought about on a target, and why others cannot."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.model.events.model_event import (
    CoordinatorLoads,
    CoordinatorMoves,
    EpochsUsedUp,
    LeaderMoves,
    MarkersWait,
    ModelEvent,
    ModelStep,
    TimeoutPasses,
)
from harness.model.events.write_events import WriteLost, WritesOverlap, WriteWaits, moves_coordinator

APART = 3
"""Brokers that it takes for a coordinator to lead none of the two partitions of a cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReach:
    """What a target allows.

    :param changes: Whether settings may be changed, such as the order of replicas.
    :param state_copies: Replicas of the partitions that keep transactional ids; 0 where those are not shown.
    :param links: Whether the links between its brokers are ours.
    :param owned: Whether it is a cluster of ours.
    """

    brokers: int
    changes: bool
    state_copies: int
    links: bool
    owned: bool = True

    def why_not(self, path: Iterable[ModelStep]) -> str | None:
        """Why a path is out of reach; None where it is not."""
        reasons = (self._why(one) for one in path if isinstance(one, ModelEvent))
        return next((f"out of reach: {reason}" for reason in reasons if reason), None)

    def _why(self, event: ModelEvent) -> str | None:
        match event:
            case TimeoutPasses():
                return None
            case EpochsUsedUp() | CoordinatorLoads() if not self.owned:
                return "records of coordinators are written on a cluster of ours alone"
            case CoordinatorMoves() | CoordinatorLoads() | EpochsUsedUp() if self.state_copies == 0:
                return "the partitions of __transaction_state are not shown"
            case CoordinatorMoves() | CoordinatorLoads() | EpochsUsedUp() | LeaderMoves():
                return self._why_no_move(1 if self.brokers < 2 else self._copies(event))
            case MarkersWait() | WriteWaits() | WriteLost() | WritesOverlap():
                if not self.links or self.brokers < APART:
                    return "the links between its brokers are not ours"
                return self._why_no_move(self.state_copies) if moves_coordinator(event) else None

    def _copies(self, event: ModelEvent) -> int:
        return self.brokers if isinstance(event, LeaderMoves) else self.state_copies

    def _why_no_move(self, copies: int) -> str | None:
        if copies < 2:
            return "there is no other replica that could lead"
        return None if self.changes else "leaders move with --allow-changes alone"
