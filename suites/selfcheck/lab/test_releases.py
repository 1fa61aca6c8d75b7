"""Other releases for single nodes: what is noted, and when a cluster may not be used by others afterwards."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from harness.base.clock import RunClock
from harness.base.unprepared import OutOfReach, Unprepared
from harness.base.user_error import ExitCode, UserError
from harness.cluster.cluster import Cluster
from harness.cluster.topology import CONTROLLER, Topology
from harness.contract import Access
from harness.lab.lab_faults import LabFaults
from harness.lab.powers.brokers.nodes import Nodes
from harness.lab.powers.upgrades.releases import Releases
from harness.lab.step_recorder import StepRecorder
from harness.wire.wire_client import Offered


@dataclass
class Upgradable:
    """A cluster whose controller runs other releases; ``too_old`` is not let in."""

    too_old: str = "3.3.2"
    running: str | None = None
    backend: str = "process"
    topology: Topology = field(
        default_factory=lambda: Topology(brokers=(1,), controller=None, lanes={}, lane_proxies={})
    )

    def run_release(self, _node: int, release: str | None, *, timeout_seconds: float | None = None) -> None:
        assert timeout_seconds is None
        if release == self.too_old:
            raise UserError("the controller answered UNSUPPORTED_VERSION", exit=ExitCode.NOT_READY)
        self.running = release

    def started_with(self, _node: int) -> str | None:
        return None

    def altered(self) -> bool:
        return self.running is not None


@dataclass
class Fixed:
    """A cluster without the power."""

    backend: str = "external"


def releases(cluster: object) -> Releases:
    """On the controller alone: it is no broker, so that nothing is asked of the others."""
    lab = LabFaults(cluster=cast(Cluster, cluster), clock=RunClock())
    nothing = cast(Any, None)
    return Releases(lab, cast(Nodes, nothing), cast(StepRecorder, nothing), lambda _node: Offered())


def test_a_cluster_is_spent_while_a_node_runs_another_release_than_at_first() -> None:
    power = releases(Upgradable())
    power.run(CONTROLLER, "3.9.2", name="down")
    spent = [power.lab.spent]
    power.run(CONTROLLER, name="up")
    assert [*spent, power.lab.spent] == [True, False]
    assert [(each.kind, each.name) for each in power.lab.notes.faults] == [("release", "down"), ("release", "up")]
    assert power.lab.accessed == {Access.NODES}


def test_a_node_that_is_not_let_in_is_told_and_spends_the_cluster() -> None:
    power = releases(Upgradable())
    assert "UNSUPPORTED_VERSION" in (power.refused(CONTROLLER, "3.3.2") or "")
    assert power.lab.spent
    with pytest.raises(Unprepared, match=r"node 4 did not come back as 3\.3\.2"):
        power.run(CONTROLLER, "3.3.2")


def test_where_releases_cannot_be_run_they_are_out_of_reach() -> None:
    with pytest.raises(OutOfReach, match="external"):
        releases(Fixed()).run(1, "3.9.2")
