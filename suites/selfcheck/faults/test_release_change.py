"""The order in which nodes change their release and levels move, on a cluster that only takes notes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import pytest

from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.faults.brokers import release_change
from harness.faults.brokers.release_change import TRANSACTION, FinalizedLevel, ReleaseChange
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import ClusterShape
from toxics.process import rolling_upgrade, upgrade_and_back

CHOSEN: Mapping[str, Json] = {"brokers": [2, 3, 1], "pause_ms": 0}


@dataclass
class NotingCluster:
    """Notes the nodes that are started, with their release, and the levels that are finalized."""

    highest: int = 2
    refuses: bool = False
    notes: list[str] = field(default_factory=list)
    backend: str = "noting"

    def run_release(self, node: int, release: str | None, *, timeout_seconds: float | None = None) -> None:  # noqa: ARG002
        self.notes.append(f"{node} {release or 'target'}")

    def started_with(self, _node: int) -> str:
        return "3.9.2"

    def altered(self) -> bool:
        return bool(self.notes)

    @property
    def topology(self) -> Any:
        return type("Topology", (), {"controllers": (4,)})

    def highest_level(self, _feature: str) -> int:
        return self.highest

    def finalize(self, feature: str, level: int) -> None:
        if self.refuses:
            raise Unprepared("the controller refuses")
        self.notes.append(f"{feature} {level}")


def target(cluster: Any) -> FaultTarget:
    """What the toxic asks of a target, answered at once."""

    class Target:
        brokers = (1, 2, 3)
        admin = cluster
        client = type("Client", (), {"refresh": staticmethod(lambda _node: None)})

        def __init__(self) -> None:
            self.cluster = cluster

        def await_registered(self, _node: int) -> None: ...

        def replicated(self) -> bool:
            return True

    return cast(FaultTarget, Target())


@pytest.fixture(autouse=True)
def _leaders_are_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_change, "elect_preferred", lambda _target: None)


def test_a_rolling_upgrade_begins_with_the_controller_and_ends_with_the_metadata_version() -> None:
    cluster = NotingCluster()
    with rolling_upgrade.TOXIC.strike(target(cluster), CHOSEN) as strikes:
        pass
    nodes = ["4 target", "2 target", "3 target", "1 target"]
    levels = [f"{TRANSACTION} 2", f"{TRANSACTION} 0", f"{TRANSACTION} 2", "metadata.version 2"]
    assert cluster.notes == [*nodes, *levels]
    assert strikes.struck == len(cluster.notes)


def test_the_way_back_ends_with_the_controller_and_moves_no_level() -> None:
    cluster = NotingCluster()
    with upgrade_and_back.TOXIC.strike(target(cluster), CHOSEN) as strikes:
        pass
    assert cluster.notes[4:] == ["2 3.9.2", "3 3.9.2", "1 3.9.2", "4 3.9.2"]
    assert strikes.struck == 8


def test_a_level_that_the_release_does_not_know_is_left_out_and_not_counted() -> None:
    cluster = NotingCluster(highest=0)
    toxic = ReleaseChange(name="levels", steps=(FinalizedLevel(feature=TRANSACTION, level=2),))
    with toxic.strike(target(cluster), CHOSEN) as strikes:
        assert (strikes.struck, cluster.notes) == (0, [])


def test_a_refused_level_is_an_error_of_the_strike() -> None:
    strike = rolling_upgrade.TOXIC.strike(target(NotingCluster(refuses=True)), CHOSEN)
    with pytest.raises(Unprepared, match="refuses"):
        strike.__enter__()


def test_nodes_of_one_release_alone_are_out_of_power() -> None:
    strike = rolling_upgrade.TOXIC.strike(target(type("Fixed", (), {"backend": "docker"})()), CHOSEN)
    with pytest.raises(Powerless, match="nodes of the docker backend run one release alone"):
        strike.__enter__()


def test_the_order_of_brokers_is_drawn() -> None:
    shape = ClusterShape(topics={"t": 1}, transactional_ids=("a",))
    orders = [rolling_upgrade.TOXIC.draw(shape, Random(seed))["brokers"] for seed in range(8)]
    assert all(sorted(cast(list[int], order)) == [1, 2, 3] for order in orders)
    assert len({str(order) for order in orders}) > 2
