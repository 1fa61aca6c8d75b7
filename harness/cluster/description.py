"""A running cluster for a person: every address and what it is good for."""

from collections.abc import Iterator

from harness.base.addresses import LANES
from harness.cluster.cluster import Cluster


def described(cluster: Cluster) -> str:
    """Lanes, links, Toxiproxy's API and logs, one a line."""
    return "\n".join(_lines(cluster)) + "\n"


def _lines(cluster: Cluster) -> Iterator[str]:
    topology = cluster.topology
    yield f"{cluster.identity} is up. Ctrl-C takes it down."
    yield "\nlanes (bootstrap.servers; no toxic is ever put on the observer's)"
    yield from (f"  {lane:<9} {topology.bootstrap(lane)}" for lane in LANES)
    if cluster.toxiproxy_api:
        yield f"\nToxiproxy's API\n  {cluster.toxiproxy_api}/proxies"
    if topology.links:
        yield "\nlinks (proxy: who asks → who answers)"
        yield from (f"  {proxy}: {source} → {target}" for (source, target), proxy in sorted(topology.links.items()))
    if logs := cluster.logs():
        yield "\nlogs"
        yield from (f"  {node:<13} {path}" for node, path in sorted(logs.items()))
