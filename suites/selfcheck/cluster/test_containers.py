"""The docker backend without an engine: addresses, files that are put in, what ``auto`` takes, errors."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from harness.base.addresses import LANES, Address
from harness.base.paths import COMPOSE
from harness.base.user_error import ExitCode
from harness.cluster import opening
from harness.cluster.docker import docker_backend, engine, images, ownership
from harness.cluster.docker.container_addresses import BLOCKS, EDGE, ContainerBlock, extra_port, link_port
from harness.cluster.docker.container_nodes import files_named_in
from harness.cluster.docker.ownership import MACHINE, PID, STARTED, StartLatch
from harness.cluster.nodes.node_ports import TOXIPROXY
from harness.cluster.nodes.node_properties import name, of_node
from harness.cluster.target import Distribution, Image, parse_target
from harness.cluster.topology import CONTROLLERS, MOST_BROKERS, NODES, ExtraListener, brokers_of, owned_topology
from suites.selfcheck.fixtures.user_errors import raises_user_error


def block_of(brokers: int = 3, *, extra: tuple[ExtraListener, ...] = (), controllers: int = 1) -> ContainerBlock:
    """A block whose ports are published at the same numbers."""
    block = ContainerBlock(
        network=BLOCKS[-1], brokers=brokers_of(brokers), extra=extra, controllers=CONTROLLERS[:controllers]
    )
    return replace(block, published={port: port for port in block.edge_ports()})


BLOCK = block_of()
COMPOSE_FILE = (COMPOSE / "docker-compose.yml").read_text()


def test_networks_of_a_cluster_and_of_two_clusters_are_apart() -> None:
    other = ContainerBlock(network=BLOCKS[0])
    networks = [block.network_of(node) for block in (BLOCK, other) for node in (EDGE, *NODES)]
    assert not any(one.overlaps(another) for one, another in combinations(networks, 2))


def test_every_name_resolves_for_a_node_to_toxiproxy_on_its_own_network_but_its_own_name() -> None:
    for node in NODES:
        hosts = dict(BLOCK.hosts(node))
        assert hosts.pop(name(node)) == BLOCK.node(node, 0).host
        assert set(hosts.values()) == {BLOCK.toxiproxy(node)}
        assert len(hosts) == len(NODES) - 1


def test_toxiproxy_listens_once_at_each_address_and_dials_names() -> None:
    proxies = BLOCK.proxies()
    assert len({proxy.listen for proxy in proxies}) == len(proxies)
    assert {proxy.upstream.host for proxy in proxies} == {f"node-{node}" for node in NODES}


@pytest.mark.parametrize("brokers", [1, 3, MOST_BROKERS])
def test_whatever_the_shape_networks_are_apart_and_each_address_is_one_proxys(brokers: int) -> None:
    extra = (ExtraListener(name="USERS", protocol="PLAINTEXT"), ExtraListener(name="MORE", protocol="PLAINTEXT"))
    block = block_of(brokers, extra=extra, controllers=3)
    assert not any(one.overlaps(two) for one, two in combinations(map(block.network_of, (EDGE, *block.nodes)), 2))
    listens = [proxy.listen for proxy in block.proxies()]
    assert len(set(listens)) == len(listens)
    edge = [address.port for address in listens if address.host == block.toxiproxy(EDGE)]
    assert sorted([*edge, TOXIPROXY]) == sorted(block.edge_ports())
    bound = [address for broker in block.brokers for address in block.listeners(broker).bound.values()]
    assert len(set(bound)) == len(bound)


def test_a_listener_beside_the_lanes_is_advertised_where_it_is_published() -> None:
    block = block_of(extra=(ExtraListener(name="USERS", protocol="SASL_PLAINTEXT"),))
    listeners, port = block.listeners(2), extra_port(0, 2)
    assert listeners.bound["USERS"] == block.node(2, port)
    assert listeners.advertised["USERS"] == block.extra_listeners["USERS"][2] == Address("127.0.0.1", port)


def test_every_voter_has_a_port_of_its_own_because_all_names_are_toxiproxys_address() -> None:
    block = block_of(controllers=3)
    settings = of_node(1, block, data="/data", extra={})
    voters = [f"{voter}@c{voter}:{link_port(voter)}" for voter in CONTROLLERS]
    assert settings["controller.quorum.voters"].split(",") == voters


def test_the_observers_lane_is_not_for_toxics() -> None:
    assert {lane for lane, _ in owned_topology(BLOCK.lane).lane_proxies} == set(LANES) - {"observer"}


def test_the_compose_file_describes_the_same_topology() -> None:
    described = {(row["name"], row["listen"], row["upstream"]) for row in json.loads(compose_proxies())}
    assert described == {(proxy.name, str(proxy.listen), str(proxy.upstream)) for proxy in BLOCK.proxies()}
    for node in NODES:
        hosts = ", ".join(f'"{known}:{address}"' for known, address in sorted(BLOCK.hosts(node).items()))
        assert f"extra_hosts: [{hosts}]" in COMPOSE_FILE
        assert f"subnet: {BLOCK.network_of(node)}" in COMPOSE_FILE


@pytest.mark.parametrize("broker", [1, 2, 3])
def test_the_compose_file_gives_brokers_the_same_listeners(broker: int) -> None:
    listeners = BLOCK.listeners(broker)
    for key, addresses in (("listeners", listeners.bound), ("advertised.listeners", listeners.advertised)):
        line = f"{key}=" + ",".join(f"{listener}://{address}" for listener, address in addresses.items())
        assert f" {line}\n" in COMPOSE_FILE


def compose_proxies() -> str:
    """Toxiproxy's configuration beside the compose file."""
    return (COMPOSE / "toxiproxy.json").read_text()


def test_files_that_jvm_options_name_are_put_in_and_folders_only_of_classes(tmp_path: Path) -> None:
    agent, rules, classes = tmp_path / "agent.jar", tmp_path / "rules.btm", tmp_path / "classes"
    classes.mkdir()
    for file in (agent, rules, classes / "A.class"):
        file.touch()
    options = (f"-javaagent:{agent}=script:{rules},key:value", f"-Xbootclasspath/a:{classes}", f"-Dlogs={tmp_path}")
    assert set(files_named_in(options)) == {str(agent), str(rules), str(classes / "A.class")}


def test_an_image_may_name_kafkas_folder() -> None:
    assert parse_target("image:a/kafka:1#/usr/share/kafka") == Image("a/kafka:1", "/usr/share/kafka")
    assert parse_target("image:a/kafka@sha256:ab") == Image("a/kafka@sha256:ab")
    for text in ("image:a/kafka:1", "image:a/kafka:1#/usr/share/kafka"):
        assert str(parse_target(text)) == text


@pytest.mark.parametrize("text", ["image:", "image:a b", "image:a#relative"])
def test_a_malformed_image_is_one_sentence(text: str) -> None:
    with raises_user_error(ExitCode.USAGE):
        parse_target(text)


def test_auto_takes_processes_where_there_is_no_engine_and_gives_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_backend, "engine_may_answer", lambda: False)
    taken = opening.choose_backend(parse_target("kafka:4.3.1"), "auto")
    assert (taken.backend.name, taken.why) == (
        "process",
        "its files are started as local JVMs: there is no container engine",
    )


def test_auto_takes_processes_where_no_image_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_backend, "engine_may_answer", lambda: True)
    monkeypatch.setattr(images, "unavailable", lambda _: "no image of it can be pulled or built")
    taken = opening.choose_backend(parse_target("kafka:4.3.1"), "auto")
    assert taken.backend.name == "process"
    assert "no image of it" in taken.why


def test_auto_takes_containers_for_an_image_and_where_they_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_backend, "engine_may_answer", lambda: True)
    monkeypatch.setattr(images, "unavailable", lambda _: None)
    for target in (Image("a"), parse_target("kafka:4.3.1"), Distribution(Path("/x.tgz"))):
        assert opening.choose_backend(target, "auto").backend.name == "docker"


def test_an_image_needs_an_engine() -> None:
    with raises_user_error(ExitCode.USAGE):
        opening.choose_backend(Image("a"), "process")


@pytest.mark.parametrize(
    ("message", "code", "sentence"),
    [
        ("write /var/lib/x: no space left on device", ExitCode.NO_ROOM, "where the container engine keeps its data"),
        ("Bind for 127.0.0.1:1 failed: port is already allocated", ExitCode.ADDRESS_IN_USE, "could be published"),
        ("something else\nover two lines", ExitCode.NOT_READY, "the container engine refuses: something else over two"),
    ],
)
def test_what_the_engine_refuses_is_one_sentence(message: str, code: ExitCode, sentence: str) -> None:
    with raises_user_error(code, sentence), engine.engine_errors():
        raise engine.APIError("500", explanation=message)


def test_a_living_owners_things_and_another_machines_are_no_orphans() -> None:
    mine = ownership.OwnedResources(engine=engine.Engine(None), name="fencepost-1").labels()
    assert not ownership._orphaned(mine)
    assert ownership._orphaned({**mine, STARTED: "1.0"})
    assert ownership._orphaned({**mine, PID: str(2**22 + 1)})
    assert not ownership._orphaned({**mine, STARTED: "1.0", MACHINE: "another"})


def test_nothing_is_created_once_a_run_is_ending() -> None:
    latch = StartLatch()
    with latch.entered():
        pass
    latch.close()
    with pytest.raises(RuntimeError, match="is ending"), latch.entered():
        pass


def test_what_was_begun_together_has_ended_when_one_of_it_fails() -> None:
    ended: list[int] = []

    def failing() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        engine.in_parallel(failing, lambda: ended.append(1))
    assert ended == [1]


def test_images_of_ours_are_never_asked_of_a_registry() -> None:
    assert not images._can_pull("fencepost/kafka:4.3.1")
