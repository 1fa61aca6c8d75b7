"""A client on the observer's lane of a cluster, which never carries a fault."""

from collections.abc import Mapping

from harness.base.clock import RunClock
from harness.cluster.topology import Topology
from harness.evidence.recorder import NullRecorder, Recorder
from harness.wire.wire_client import Offered, WireClient


def observer_client(
    topology: Topology,
    clock: RunClock,
    *,
    actor: str = "observer",
    recorder: Recorder | None = None,
    offered: Mapping[int, Offered] | None = None,
) -> WireClient:
    """One that connects as the cluster asks for; its maker closes it.

    :param actor: Its client id.
    :param recorder: Gets its exchanges; without one they are not kept.
    :param offered: What nodes are known to advertise; they are not asked again.
    """
    return WireClient(
        actor=actor,
        lane="observer",
        addresses=topology.lanes["observer"],
        clock=clock,
        recorder=recorder or NullRecorder(),
        offered=offered,
        security=topology.secured("observer"),
    )
