"""The external backend: a running cluster that is not ours, with proxies of our own in front of it.

Nothing can be done to its nodes and to the links between them. Clients' lanes can be disturbed all the same where a
Toxiproxy can be started: victim and rival then go through it, and the observer connects directly. Only clients that
take their addresses from the topology stay on their lane; one that follows the brokers' own Metadata leaves it, and
behind mapped ports (``Topology.advertised``) it reaches nobody.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.addresses import LANES, Address, Lane
from harness.base.user_error import ExitCode, UserError
from harness.cluster import toxiproxy
from harness.cluster.backend import Backend, Progress
from harness.cluster.broker_finding import FoundBrokers, find_brokers
from harness.cluster.cluster import ClusterOptions
from harness.cluster.nodes.node_ports import LANE_PORTS
from harness.cluster.process.loopback_addresses import LoopbackBlock, claim_block
from harness.cluster.target import External, Target
from harness.cluster.topology import Topology, count_of, lane_name
from harness.cluster.toxiproxy import Proxy, ToxiproxyLinks
from harness.machine.run_processes import open_run_processes
from harness.wire.security.client_properties import read_client_properties
from harness.wire.security.security import PLAINTEXT, Security

FIRST_HOST = 2  # of a block; 1 is Toxiproxy's API


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalCluster:
    """Fills :class:`harness.cluster.cluster.Cluster`; offers no powers.

    :param cleanup: Ends our proxies.
    """

    identity: str
    topology: Topology
    links: ToxiproxyLinks | None
    versions: Mapping[str, str]
    cleanup: ExitStack

    @property
    def backend(self) -> str:
        return EXTERNAL.name

    @property
    def owned(self) -> bool:
        """It ran before us, and goes on after us."""
        return False

    @property
    def toxiproxy_api(self) -> str | None:
        return f"http://{self.links.api}" if self.links else None

    def logs(self) -> Mapping[str, Path]:
        return {}

    def close(self) -> None:
        """End our proxies; the cluster is left alone. May be called twice."""
        self.cleanup.close()


def open_external(target: Target, options: ClusterOptions, run_dir: Path, progress: Progress) -> ExternalCluster:
    """Learn the brokers and put our proxies in front.

    :raises UserError: TARGET_UNREACHABLE, when an address does not answer as Kafka does.
    """
    if not isinstance(target, External):
        raise UserError(f"{target} is not a running cluster", exit=ExitCode.USAGE)
    given = options.client_properties
    security = PLAINTEXT if given is None else read_client_properties(given)
    found = find_brokers(target, security)
    with ExitStack() as cleanup:
        links, lanes = _lanes(found.addresses, cleanup, run_dir, progress)
        return ExternalCluster(
            identity=f"{target} ({count_of(tuple(found.addresses))}), external backend",
            topology=_topology(found, lanes, security),
            links=links,
            versions={"toxiproxy": links.version()} if links else {},
            cleanup=cleanup.pop_all(),
        )
    raise AssertionError("an ExitStack that swallows nothing")


def _lanes(
    brokers: Mapping[int, Address], cleanup: ExitStack, run_dir: Path, progress: Progress
) -> tuple[ToxiproxyLinks | None, Sequence[tuple[Lane, int, Proxy]]]:
    try:
        program = toxiproxy.program(progress)
    except UserError as missing:
        progress(f"no lane can be disturbed: {missing}")
        return None, []
    logs = run_dir / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    processes = open_run_processes()
    cleanup.callback(processes.close)
    block = claim_block()
    cleanup.callback(block.guard.close)
    lanes = _proxies(block, brokers)
    links = toxiproxy.launch(processes, program, block.toxiproxy(), log=logs / "toxiproxy.log")
    toxiproxy.await_answer(links)
    links.create([proxy for _, _, proxy in lanes])
    return links, lanes


def _proxies(block: LoopbackBlock, brokers: Mapping[int, Address]) -> Sequence[tuple[Lane, int, Proxy]]:
    """Two for each broker, on addresses in order, because an external cluster's node ids can be any number."""
    return [
        (lane, node, Proxy(name=lane_name(lane, node), listen=_listen(block, i, lane), upstream=address))
        for i, (node, address) in enumerate(brokers.items())
        for lane in LANES
        if lane != "observer"
    ]


def _listen(block: LoopbackBlock, index: int, lane: Lane) -> Address:
    return Address(block.host(FIRST_HOST + index), LANE_PORTS[lane])


def _topology(found: FoundBrokers, proxied: Sequence[tuple[Lane, int, Proxy]], security: Security) -> Topology:
    brokers = found.addresses
    proxies = {(lane, node): proxy for lane, node, proxy in proxied}
    return Topology(
        brokers=tuple(brokers),
        controller=None,
        lanes={
            lane: {n: proxies[lane, n].listen if (lane, n) in proxies else brokers[n] for n in brokers}
            for lane in LANES
        },
        lane_proxies={(lane, n): proxies[lane, n].name for lane in LANES for n in brokers if (lane, n) in proxies},
        advertised=found.advertised,
        security=replace(security, names={n: address.host for n, address in brokers.items()}),
    )


EXTERNAL = Backend(
    name="external",
    opens=(External,),
    reason="the target is a running cluster",
    unavailable=lambda _target: None,  # only asking its brokers can tell
    opener=open_external,
    cannot=lambda _options: "a running cluster is what it is",
)
