"""Brokers that a stimulus takes away come back, also after an error; and nobody else's are touched."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from harness.base.unprepared import OutOfReach
from harness.cluster.cluster import Cluster
from harness.contract import Access
from harness.lab.powers.brokers.nodes import Nodes


@dataclass(slots=True)
class PoweredCluster:
    """Has the powers to pause, stop and kill; keeps what was done."""

    done: list[tuple[str, int]] = field(default_factory=list)

    def pause(self, node: int) -> None:
        self.done.append(("pause", node))

    def resume(self, node: int) -> None:
        self.done.append(("resume", node))

    def stop(self, node: int) -> None:
        self.done.append(("stop", node))

    def kill(self, node: int) -> None:
        self.done.append(("kill", node))

    def restart(self, node: int) -> None:
        self.done.append(("restart", node))


@dataclass(slots=True)
class HealthyView:
    """All is as before, after it was asked for."""

    registered: list[int] = field(default_factory=list)
    elections: int = 0

    def await_registered(self, node: int) -> None:
        self.registered.append(node)

    def replicated(self) -> bool:
        return True

    def as_preferred(self) -> bool:
        return self.elections > 1

    def to_controller(self, _request: object) -> Any:
        self.elections += 1
        return cast(Any, ELECTED)


@dataclass(frozen=True, slots=True)
class Elected:
    error: int = 0


ELECTED = Elected()
BACK: Mapping[str, str] = {"paused": "resume", "stopped": "restart", "killed": "restart"}


def nodes(cluster: object) -> Nodes:
    view = cast(Any, HealthyView())
    return Nodes(cluster=cast(Cluster, cluster), view=view, now=lambda: 1.0, faults=[], accessed=set())


@pytest.mark.parametrize("kind", BACK)
def test_a_broker_is_back_and_leads_again_also_after_an_error(kind: str) -> None:
    taken = nodes(cluster := PoweredCluster())
    with suppress(ZeroDivisionError), getattr(taken, kind)(2, name="away"):
        assert list(taken.away) == [2]
        raise ZeroDivisionError
    assert cluster.done[-1] == (BACK[kind], 2)
    view = cast(HealthyView, taken.view)
    assert (view.registered, view.as_preferred(), taken.away) == ([2], True, {})
    assert [(fault.name, fault.where) for fault in taken.faults] == [("away", "broker-2")]
    assert taken.accessed == {Access.NODES}


def test_healing_brings_back_whoever_is_away_and_else_does_nothing() -> None:
    taken = nodes(cluster := PoweredCluster())
    taken.heal()
    taken.away[3] = lambda: cluster.resume(3)
    taken.heal()
    assert cluster.done == [("resume", 3)]


def test_brokers_that_are_not_ours_are_out_of_reach() -> None:
    for kind in BACK:
        with pytest.raises(OutOfReach, match="not ours"):
            getattr(nodes(object()), kind)(1)
