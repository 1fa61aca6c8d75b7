"""The targets: how each is started, and the words with which ``fencepost qualify`` is told about it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from confluent_kafka import libversion

from harness.base.addresses import Address
from harness.base.paths import KNOWN_FAILING, ROOT
from harness.cluster.cluster import Cluster, ClusterOptions
from harness.cluster.opening import open_cluster
from harness.cluster.owned_cluster import OwnedCluster
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.cluster.process.process_node import ProcessNode
from harness.cluster.target import Released
from harness.cluster.topology import ExtraListener
from harness.cluster.toxiproxy import Proxy
from suites.selfcheck.fixtures.kfake_server import MODULE, kfake, version
from suites.selfcheck.fixtures.mock_server import mock_server
from suites.selfcheck.fixtures.secured_cluster import SASL_SSL, login, secured_cluster

VERSION = "4.3.1"
KNOWN = ("--known-failing", str((KNOWN_FAILING / f"kafka-{VERSION}.txt").relative_to(ROOT)))
"""What this release is known to break, which it breaks as an external target as well; a qualification runs in ROOT."""
NOBODY = 9
"""A port on which nothing listens: what brokers behind mapped ports advertise here."""
MAPPED = ExtraListener(name="MAPPED", protocol="PLAINTEXT", advertised_port=NOBODY)
FIRST_MAPPED, MAPPED_PORT = 60, 19092

Words: TypeAlias = Sequence[str]
"""The target and the options of ``fencepost qualify``."""
Opener: TypeAlias = Callable[[Path], AbstractContextManager[Words]]
"""Starts the target for the length of a block; the folder is for its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetShape:
    """One row of the page.

    :param sound: Whether it is a Kafka, which must pass: VIOLATED and UNDECIDED is only what it is known to break.
    :param server: What was judged, with its version.
    :param how: How it was started and reached, in a phrase.
    :param ended_by: Ids of requirements whose requests end the server; each is judged on one of its own, so that the
        others have a server that answers.
    """

    name: str
    server: str
    how: str
    opened: Opener
    sound: bool = False
    ended_by: Sequence[str] = ()


@contextmanager
def _kafka(folder: Path, brokers: int, *options: str) -> Iterator[Words]:
    with _cluster(folder, ClusterOptions(brokers=brokers)) as cluster:
        yield _external(cluster.topology.lanes["observer"].values()), *KNOWN, *options


@contextmanager
def _kafka_over_sasl(folder: Path) -> Iterator[Words]:
    with secured_cluster(folder, brokers=3) as secured:
        properties = secured.client("scram", SASL_SSL, login("SCRAM-SHA-512"))
        yield secured.target("SASL"), *KNOWN, "--client-properties", str(properties)


@contextmanager
def _kafka_behind_ports(folder: Path) -> Iterator[Words]:
    """Reached only at addresses that no broker tells, given in an order of their own and without ids."""
    with _cluster(folder, ClusterOptions(listeners=(MAPPED,))) as cluster:
        proxies = [
            Proxy(name=f"mapped-{broker}", listen=_mapped(cluster.block, broker), upstream=address)
            for broker, address in cluster.topology.listeners[MAPPED.name].items()
        ]
        cluster.links.create(proxies)
        yield _external(proxy.listen for proxy in reversed(proxies)), *KNOWN


@contextmanager
def _mock(_folder: Path) -> Iterator[Words]:
    with mock_server() as server:
        yield (f"external:{server.bootstrap}",)


@contextmanager
def _kfake(_folder: Path, release: str | None) -> Iterator[Words]:
    with kfake(release=release) as bootstrap:
        yield (f"external:{bootstrap}",)


@contextmanager
def _cluster(folder: Path, options: ClusterOptions) -> Iterator[OwnedCluster[ProcessNode, LoopbackBlock]]:
    cluster: Cluster = open_cluster(
        Released(VERSION), backend="process", options=options, run_dir=folder, progress=lambda _: None
    )
    assert isinstance(cluster, OwnedCluster)
    try:
        yield cluster
    finally:
        cluster.close()


def _mapped(block: LoopbackBlock, broker: int) -> Address:
    return Address(block.host(FIRST_MAPPED + broker), MAPPED_PORT)


def _external(addresses: Iterable[Address]) -> str:
    return f"external:{','.join(map(str, addresses))}"


KAFKA = f"Kafka {VERSION}"
KFAKE = f"kfake of {MODULE.removesuffix('/pkg/kfake')}, {version()}"

SHAPES = (
    TargetShape(name="kafka-1", server=KAFKA, how="one broker", opened=partial(_kafka, brokers=1), sound=True),
    TargetShape(name="kafka-3", server=KAFKA, how="three brokers", opened=partial(_kafka, brokers=3), sound=True),
    TargetShape(
        name="kafka-3-changes",
        server=KAFKA,
        how="three brokers, with `--allow-changes`",
        opened=lambda folder: _kafka(folder, 3, "--allow-changes"),
        sound=True,
    ),
    TargetShape(name="kafka-5", server=KAFKA, how="five brokers", opened=partial(_kafka, brokers=5), sound=True),
    TargetShape(
        name="kafka-sasl-ssl",
        server=KAFKA,
        how="three brokers over TLS, with SCRAM-SHA-512 (`--client-properties`)",
        opened=_kafka_over_sasl,
        sound=True,
    ),
    TargetShape(
        name="kafka-mapped-ports",
        server=KAFKA,
        how="three brokers behind mapped ports; where they advertise to be, nobody listens",
        opened=_kafka_behind_ports,
        sound=True,
    ),
    TargetShape(
        name="librdkafka-mock",
        server=f"mock cluster of librdkafka {libversion()[0]}",
        how="three brokers (`test.mock.num.brokers=3`)",
        opened=_mock,
        ended_by=("KIP360-INIT-13",),
    ),
    TargetShape(name="kfake", server=KFAKE, how="three brokers, as it comes", opened=partial(_kfake, release=None)),
    TargetShape(
        name="kfake-3.9",
        server=KFAKE,
        how="three brokers, limited to the API versions of Kafka 3.9",
        opened=partial(_kfake, release="3.9"),
    ),
)
