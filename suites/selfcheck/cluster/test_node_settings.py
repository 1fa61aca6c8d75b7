"""What nodes are told before they start: addresses, ports, listeners, properties and JVM flags."""

import socket
from pathlib import Path

import pytest

from harness.base.addresses import Address
from harness.base.user_error import ExitCode, UserError
from harness.cluster.nodes import jvm_command, node_ports, storage
from harness.cluster.nodes.node_properties import name, of_node, render, shared
from harness.cluster.process import loopback_addresses
from harness.cluster.process.hosts_file import hosts_file
from harness.cluster.topology import BROKERS, CONTROLLER, MOST_BROKERS, ExtraListener, brokers_of, owned_topology

SECURE = ExtraListener(name="SECURE", protocol="SSL", properties={"ssl.keystore.type": "PEM"})


def test_two_clusters_never_share_a_block() -> None:
    first, second = loopback_addresses.claim_block(), loopback_addresses.claim_block()
    try:
        assert first.number != second.number
        assert not set(first.all()) & set(second.all())
    finally:
        first.guard.close()
        second.guard.close()


def test_every_listener_has_an_address_of_its_own() -> None:
    block = loopback_addresses.claim_block()
    block.guard.close()
    listeners = list(block.all())
    assert len(set(listeners)) == len(listeners)


def test_a_taken_address_sends_us_to_the_next_block() -> None:
    first = loopback_addresses.claim_block()
    first.guard.close()
    observer = first.lane("observer", 2)
    with socket.create_server((observer.host, observer.port)):
        second = loopback_addresses.claim_block()
        second.guard.close()
    assert second.number != first.number


def test_a_port_that_is_taken_in_every_block_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback_addresses, "BLOCKS", [250])
    with (
        socket.create_server(("127.0.250.11", node_ports.OBSERVER)),
        pytest.raises(UserError, match=rf"something listens on port {node_ports.OBSERVER} of every address") as error,
    ):
        loopback_addresses.claim_block()
    assert error.value.exit is ExitCode.ADDRESS_IN_USE


def test_a_broker_reaches_every_other_node_only_through_proxies() -> None:
    block = loopback_addresses.claim_block()
    block.guard.close()
    for source in BROKERS:
        lines = (line.split() for line in hosts_file(block, source).splitlines())
        known = {name: host for host, name in lines}
        for target in (*BROKERS, CONTROLLER):
            direct = known[name(target)] == block.link(target, target).host
            assert direct == (source == target)


@pytest.mark.parametrize("count", [1, 2, 5, MOST_BROKERS])
def test_every_broker_of_any_number_has_addresses_of_its_own(count: int) -> None:
    block = loopback_addresses.claim_block(
        brokers_of(count), (SECURE, ExtraListener(name="OPEN", protocol="PLAINTEXT"))
    )
    block.guard.close()
    addresses = list(block.all())
    assert len(set(addresses)) == len(addresses)
    topology = owned_topology(block.lane, block.brokers, block.extra_listeners)
    assert len(topology.brokers) == count
    assert CONTROLLER not in topology.brokers
    assert len(topology.links) == count * (count + 1)
    assert {topology.listeners[name][broker] for name in ("SECURE", "OPEN") for broker in block.brokers} <= set(
        addresses
    )


@pytest.mark.parametrize(("count", "copies", "in_sync"), [(1, "1", "1"), (2, "2", "2"), (3, "3", "2"), (5, "3", "2")])
def test_internal_topics_have_as_many_copies_as_there_are_brokers(count: int, copies: str, in_sync: str) -> None:
    block = loopback_addresses.claim_block(brokers_of(count))
    block.guard.close()
    settings = of_node(1, block, data="/data", extra={})
    assert settings["transaction.state.log.replication.factor"] == copies
    assert settings["offsets.topic.replication.factor"] == copies
    assert settings["transaction.state.log.min.isr"] == in_sync


def test_a_broker_has_a_listener_beside_the_lanes() -> None:
    block = loopback_addresses.claim_block(extra=(SECURE,))
    block.guard.close()
    settings = of_node(2, block, data="/data", extra={})
    address = block.extra_listeners["SECURE"][2]
    assert f"SECURE://{address}" in settings["listeners"].split(",")
    assert f"SECURE://{address}" in settings["advertised.listeners"].split(",")
    assert settings["listener.security.protocol.map"].split(",")[-1] == "SECURE:SSL"
    assert settings["ssl.keystore.type"] == "PEM"


def test_a_listener_can_tell_clients_another_port_than_its_own() -> None:
    mapped = ExtraListener(name="MAPPED", protocol="PLAINTEXT", advertised_port=9)
    block = loopback_addresses.claim_block(extra=(mapped,))
    block.guard.close()
    settings = of_node(2, block, data="/data", extra={})
    address = block.extra_listeners["MAPPED"][2]
    assert f"MAPPED://{address}" in settings["listeners"].split(",")
    assert f"MAPPED://{address.host}:9" in settings["advertised.listeners"].split(",")


def test_the_users_properties_win_over_ours() -> None:
    block = loopback_addresses.claim_block()
    block.guard.close()
    assert shared()["auto.create.topics.enable"] == "false"
    extra = {"auto.create.topics.enable": "true", "transaction.max.timeout.ms": "1000"}
    settings = of_node(1, block, data="/data", extra=extra)
    assert settings["auto.create.topics.enable"] == "true"
    assert settings["transaction.max.timeout.ms"] == "1000"
    assert settings["transaction.state.log.min.isr"] == "2"


def test_a_backslash_in_a_property_reaches_the_broker() -> None:
    assert render({"a": r"x\y"}) == "a=x\\\\y\n"


@pytest.mark.parametrize(
    ("chosen", "aside"),
    [
        ((), set()),
        (("-Dkey=value", "-javaagent:/x.jar"), set()),
        (("-XX:+UseG1GC",), {jvm_command.COLLECTOR}),
        (("-XX:+UseZGC", "-Xms2g"), {jvm_command.COLLECTOR, jvm_command.HEAP}),
        (("-Xmx1g",), {jvm_command.HEAP}),
        (("-XX:MaxRAMPercentage=50",), {jvm_command.HEAP}),
        (("-XX:InitialHeapSize=1g",), {jvm_command.HEAP}),
        (("-Xshare:off",), {"-XX:SharedArchiveFile=/classes.jsa"}),
    ],
)
def test_jvm_flags_of_the_user_replace_ours(chosen: tuple[str, ...], aside: set[str]) -> None:
    every = set(jvm_command.quick_start_flags((), Path("/classes.jsa")))
    assert every - set(jvm_command.quick_start_flags(chosen, Path("/classes.jsa"))) == aside


def test_an_id_never_looks_like_an_option() -> None:
    drawn = {storage.new_id() for _ in range(500)}
    assert len(drawn) == 500
    assert not any(one.startswith("-") for one in drawn)


def test_an_address_is_written_host_and_port() -> None:
    assert str(Address("127.0.77.11", 23097)) == "127.0.77.11:23097"
