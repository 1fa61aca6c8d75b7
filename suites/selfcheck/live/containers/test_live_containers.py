"""The docker backend on a real engine: no way round a proxy, and nothing left however a run ends. Starts clusters."""

import signal
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from harness.base import wait
from harness.base.addresses import Address
from harness.base.user_error import ExitCode, UserError
from harness.cluster.cluster import ClusterOptions
from harness.cluster.docker import images, networks, ownership
from harness.cluster.docker.container_addresses import ContainerBlock, link_port
from harness.cluster.docker.container_node import ContainerNode
from harness.cluster.docker.docker_cluster import open_docker
from harness.cluster.docker.engine import APIError, Engine, create_labels, in_parallel
from harness.cluster.docker.images import TOXIPROXY
from harness.cluster.nodes import readiness_probe
from harness.cluster.owned_cluster import OwnedCluster
from harness.cluster.target import Image, Released, Target
from harness.cluster.topology import BROKERS, NODES
from suites.selfcheck.fixtures.engines import engine, left_on_engine, running_on_engine
from suites.selfcheck.live.clusters.test_endings import none_left, running, watchdogs

pytestmark = pytest.mark.live
Containers: TypeAlias = OwnedCluster[ContainerNode, ContainerBlock]

VERSION = "4.3.1"
EVERYTHING = 14
"""Four nodes with their volumes, Toxiproxy, and five networks."""
RYUKS = [f"{key}={value}" for key, value in create_labels("", {}).items()]


def opened(target: Target, run_dir: Path) -> Containers:
    """A cluster, without its progress."""
    left_on_engine()
    return open_docker(target, ClusterOptions(), run_dir, lambda _: None)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Containers]:
    """One cluster for all that leaves it as it is."""
    running = opened(Released(VERSION), tmp_path_factory.mktemp("containers"))
    yield running
    running.close()


def reaches(cluster: Containers, source: int, target: Address, within_seconds: int = 20) -> bool:
    """Whether a connection can be made from within a node's container."""
    attempt = f"timeout {within_seconds} bash -c 'exec 3<>/dev/tcp/{target.host}/{target.port}'"
    return bool(cluster.nodes[source].container.exec_run(["bash", "-c", attempt]).exit_code == 0)


@pytest.mark.parametrize("source", BROKERS)
def test_no_broker_reaches_another_node_but_through_toxiproxy(cluster: Containers, source: int) -> None:
    for target in set(NODES) - {source}:
        assert reaches(cluster, source, Address(cluster.block.toxiproxy(source), link_port(target)))
        assert not reaches(cluster, source, cluster.block.node(target, link_port(target)), 1)
        assert not reaches(cluster, source, Address(cluster.block.toxiproxy(target), link_port(source)), 1)


def test_a_node_is_on_its_own_network_and_publishes_nothing(cluster: Containers) -> None:
    for node in cluster.nodes.values():
        node.container.reload()
        assert len(node.container.attrs["NetworkSettings"]["Networks"]) == 1
        assert not any(node.container.ports.values())


def test_lanes_and_toxiproxy_are_published_on_loopback_alone(cluster: Containers) -> None:
    with engine() as found:
        name = f"{cluster.nodes[1].container.name.removesuffix('broker-1')}toxiproxy"
        container = found.sdk.containers.get(name)
        hosts = {place["HostIp"] for places in container.ports.values() for place in places}
    assert hosts == {"127.0.0.1"}


def test_the_report_names_digests_of_images(cluster: Containers) -> None:
    assert "sha256:" in cluster.versions["kafka image"]
    assert "sha256:" in cluster.versions["toxiproxy image"]


def test_the_archive_of_classes_is_used(cluster: Containers) -> None:
    command = ["java", "-Xshare:on", "-XX:SharedArchiveFile=/fencepost/classes.jsa", "-XX:TieredStopAtLevel=1"]
    flags = ["-XX:+UseSerialGC", "@/fencepost/class-path", "-version"]
    ran = cluster.nodes[1].container.exec_run([*command, *flags])
    assert ran.exit_code == 0, ran.output.decode()


def test_a_second_cluster_from_an_image_runs_beside_it(cluster: Containers, tmp_path: Path) -> None:
    second = opened(Image(f"fencepost/kafka:{VERSION}"), tmp_path)
    try:
        assert not second.block.network.overlaps(cluster.block.network)
        observer = cluster.topology.lanes["observer"]
        assert readiness_probe.brokers(observer[1]) == observer
    finally:
        second.close()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (Image("fencepost/no-such-image:1"), "cannot be pulled"),
        (Image(TOXIPROXY[0]), "holds no Kafka"),
        (Image(f"fencepost/kafka:{VERSION}", "/nowhere"), "holds no Kafka: there is no /nowhere/libs"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("cluster")
def test_an_image_that_is_missing_or_without_kafka_is_one_sentence(target: Image, words: str, tmp_path: Path) -> None:
    before = left_on_engine()
    with pytest.raises(UserError, match=words) as error:
        opened(target, tmp_path)
    assert error.value.exit is ExitCode.TARGET_UNKNOWN
    assert len(str(error.value).splitlines()) == 1
    assert left_on_engine() == before


@pytest.mark.parametrize(
    ("sent", "ryuk_disabled"), [(signal.SIGINT, "true"), (signal.SIGTERM, "false")], ids=["Ctrl-C", "SIGTERM, Ryuk"]
)
@pytest.mark.parametrize("moment", [1, 4, 8, EVERYTHING])
@pytest.mark.usefixtures("cluster")  # the images are there: what is timed out below must not be their building
def test_an_interrupted_run_leaves_nothing_on_the_engine(
    tmp_path: Path, sent: signal.Signals, ryuk_disabled: str, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_ryuk(monkeypatch, ryuk_disabled)
    before = left_on_engine()
    with running(tmp_path, "up", f"kafka:{VERSION}", "--backend", "docker") as process:
        await_more(before, moment)
        process.send_signal(sent)
        assert process.wait(60) == ExitCode.INTERRUPTED, (tmp_path / "output").read_text()
    assert left_on_engine() <= before
    assert "Traceback" not in (tmp_path / "output").read_text()


@pytest.mark.parametrize("ryuk_disabled", ["true", "false"])
@pytest.mark.parametrize("moment", [1, 6, EVERYTHING])
def test_what_a_run_killed_with_9_left_goes_at_once(
    cluster: Containers, tmp_path: Path, ryuk_disabled: str, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_ryuk(monkeypatch, ryuk_disabled)
    before, already_running = left_on_engine(), running_on_engine()
    with running(tmp_path, "up", f"kafka:{VERSION}", "--backend", "docker") as process:
        await_more(before, moment)
        family = watchdogs(process)
        assert family
        process.kill()
        process.wait(30)
        for gone, what in (
            (lambda: running_on_engine() <= already_running, "the end of the containers"),
            (lambda: left_on_engine() == before, "a clean engine"),
            (lambda: none_left(family), "the watchdog's end"),
        ):
            wait.until(gone, what=what, timeout_seconds=60, interval_seconds=0.2)
    assert readiness_probe.brokers(cluster.topology.lanes["observer"][1]) == cluster.topology.lanes["observer"]


def test_exactly_the_things_of_a_run_killed_with_its_watchdog_are_removed_by_the_next_start(
    cluster: Containers, tmp_path: Path
) -> None:
    before = left_on_engine()
    with running(tmp_path, "up", f"kafka:{VERSION}", "--backend", "docker") as process:
        await_more(before, EVERYTHING)
        for child in watchdogs(process):
            child.kill()
        process.kill()
        process.wait(30)
    with engine() as found:
        assert len(ownership.remove_orphans(found)) == 1
    assert left_on_engine() == before
    assert readiness_probe.brokers(cluster.topology.lanes["observer"][1]) == cluster.topology.lanes["observer"]


def allow_ryuk(patch: pytest.MonkeyPatch, disabled: str) -> None:
    """Ryuk's setting, with an image of it that cannot be pulled: starting it fails."""
    patch.setenv("TESTCONTAINERS_RYUK_DISABLED", disabled)
    patch.setenv("RYUK_CONTAINER_IMAGE", "fencepost/no-such-ryuk:1")


def await_more(before: set[str], moment: int) -> None:
    """Wait until so many things are there that were not there before."""
    wait.until(
        lambda: len(left_on_engine() - before) >= moment, what="the moment", timeout_seconds=90, interval_seconds=0.02
    )


def test_ryuk_may_remove_our_things_while_we_do() -> None:
    with engine() as found:
        run = ownership.OwnedResources(engine=found, name="fencepost-selfcheck")
        block = networks.claim_network(run)
        networks.create_for_nodes(run, block)
        image = images.toxiproxy_image(found, lambda _: None).id
        for node in NODES:
            run.container(image, network=networks.network_name(run, node)).start()
        assert len(known_to_ryuk(found, run)) == len(NODES) * 2 + 1
        in_parallel(run.remove, lambda: ryuk_prunes(found, run), lambda: ownership.remove_orphans(found))
        assert not known_to_ryuk(found, run)


def known_to_ryuk(found: Engine, run: ownership.OwnedResources) -> list[str]:
    """What of the run carries the label by which Ryuk knows a session's things."""
    api, wanted = found.sdk.api, {"label": [f"{ownership.RUN}={run.name}", *RYUKS]}
    return [thing["Id"] for thing in (*api.containers(all=True, filters=wanted), *api.networks(filters=wanted))]


def ryuk_prunes(found: Engine, run: ownership.OwnedResources) -> None:
    """What Ryuk does once no client is connected to it: all with the session's label, and it does not mind errors."""
    api = found.sdk.api
    for thing in known_to_ryuk(found, run):
        for remove in (partial(api.remove_container, force=True, v=True), api.remove_network):
            with suppress(APIError):
                remove(thing)
