"""What toxics may act on, by whose cluster it is, and what is said of those that can strike nothing there."""

from collections.abc import Iterator, Mapping, Sequence

from harness.cluster.cluster import BreakNode, Cluster, FillDisk, Kill, Pause, RunRelease, Stop
from harness.cluster.run_options import Permissions
from harness.faults.toxic import ClusterShape, Toxic, ToxicReach, out_of_reach

EVERYWHERE = frozenset({ToxicReach.LANES, ToxicReach.TOPICS})
"""What is within reach on any cluster."""


def reach_of(
    cluster: Cluster,
    permissions: Permissions,
    *,
    clients: bool = False,
    settings: bool = False,
    controllers: int | None = None,
) -> frozenset[ToxicReach]:
    """What is within reach on this cluster.

    :param clients: Whether clients are processes of their own.
    :param settings: Whether the cluster was started with the scenario's settings.
    :param controllers: Of one like it that has another number of them; None for its own.
    """
    topology = cluster.topology
    controllers = len(topology.controllers) if controllers is None else controllers
    within = {
        ToxicReach.LANES: bool(topology.lane_proxies),
        ToxicReach.LINKS: bool(topology.links),
        ToxicReach.PROCESSES: all(isinstance(cluster, power) for power in (Kill, Stop, Pause)),
        ToxicReach.LEADERS: len(topology.brokers) > 1 and (cluster.owned or permissions.changes),
        ToxicReach.CLIENTS: clients,
        ToxicReach.DISKS: isinstance(cluster, FillDisk),
        ToxicReach.RELEASES: isinstance(cluster, RunRelease) and any(map(cluster.started_with, topology.brokers)),
        ToxicReach.CODE: isinstance(cluster, BreakNode),
        ToxicReach.SETTINGS: settings,
        ToxicReach.CONTROLLERS: isinstance(cluster, Kill) and controllers > 1,
        ToxicReach.TOPICS: True,
    }
    return frozenset(reach for reach, there in within.items() if there)


def on_external(toxics: Sequence[Toxic]) -> str:
    """What a list of scenarios says of these toxics on a cluster that is not ours; nothing where all can strike."""
    names = [toxic.name for toxic in toxics if EVERYWHERE.isdisjoint(toxic.acts_on)]
    if not names:
        return ""
    return f" [external: {'out of reach' if len(names) == len(toxics) else 'without ' + ', '.join(names)}]"


def lost(toxics: Sequence[Toxic], shape: ClusterShape) -> Mapping[str, str]:
    """Why, by the name of each toxic that can strike nothing on a cluster of this shape."""
    reasons = ((toxic.name, out_of_reach(toxic, shape)) for toxic in toxics)
    return {name: why for name, why in reasons if why is not None}


def sentences(lost_toxics: Mapping[str, str]) -> Iterator[str]:
    """One for each reason.

    >>> list(sentences({"kill": "the brokers are not ours to stop", "pause": "the brokers are not ours to stop"}))
    ['out of reach: kill, pause: the brokers are not ours to stop']
    """
    for why in dict.fromkeys(lost_toxics.values()):
        yield f"out of reach: {', '.join(name for name, other in lost_toxics.items() if other == why)}: {why}"
