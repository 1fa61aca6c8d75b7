"""The brokers of a cluster that is not ours, behind ports as advertised, mapped ports, and some of them told."""

import pytest

from harness.base.addresses import LANES, Address
from harness.base.user_error import ExitCode, UserError
from harness.cluster.broker_finding import find_brokers
from harness.cluster.cluster import ClusterOptions
from harness.cluster.external import open_external
from harness.cluster.target import External, parse_target
from suites.selfcheck.fixtures.listening_brokers import listening
from suites.selfcheck.fixtures.user_errors import raises_user_error

NODES = (1, 2, 3)
INSIDE = {node: Address(f"b{node}.invalid", 9092) for node in NODES}
"""Addresses that nobody reaches from here."""


def given(*addresses: Address) -> External:
    """Without ids."""
    return External(addresses)


@pytest.mark.parametrize("first", NODES)
def test_the_rest_is_found_as_advertised_from_any_one_of_them(first: int) -> None:
    with listening(NODES) as cluster:
        found = find_brokers(given(cluster.listening[first]))
        assert found.addresses == found.advertised == cluster.listening


def test_another_way_to_write_an_advertised_address_is_kept() -> None:
    with listening(NODES) as cluster:
        named = Address("localhost", cluster.listening[2].port)
        found = find_brokers(given(named))
        assert found.addresses == {**cluster.listening, 2: named}
        assert found.advertised == cluster.listening


def test_a_single_broker_behind_a_mapped_port_is_the_given_one() -> None:
    with listening((7,), advertised={7: INSIDE[1]}, asks_in_vain=True) as cluster:
        found = find_brokers(given(cluster.listening[7]))
        assert (found.addresses, found.advertised) == (cluster.listening, {7: INSIDE[1]})


def test_brokers_behind_mapped_ports_are_asked_who_they_are() -> None:
    with listening(NODES, advertised=INSIDE) as cluster:
        found = find_brokers(given(*(cluster.listening[node] for node in (3, 1, 2))))
        assert (found.addresses, found.advertised) == (cluster.listening, INSIDE)


def test_some_are_asked_and_some_are_reached() -> None:
    with listening(NODES) as cluster:
        cluster.advertised = {**cluster.listening, 2: INSIDE[2]}
        found = find_brokers(given(cluster.listening[2]))
        assert found.addresses == cluster.listening


def test_those_that_do_not_say_are_told_by_id() -> None:
    with listening(NODES, advertised=INSIDE, asks_in_vain=True) as cluster:
        sentence = "broker 1 advertises b1.invalid:9092.*say where each broker is: external:1=host:port,2=host:port"
        with pytest.raises(UserError, match=sentence) as raised:
            find_brokers(given(*cluster.listening.values()))
        assert raised.value.exit is ExitCode.TARGET_UNREACHABLE
        told = ",".join(f"{node}={address}" for node, address in cluster.listening.items())
        target = parse_target(f"external:{told}")
        assert isinstance(target, External)
        assert find_brokers(target).addresses == cluster.listening


def test_an_id_that_the_cluster_does_not_have_is_told() -> None:
    with listening(NODES) as cluster:
        target = External((cluster.listening[1],), (9,))
        with raises_user_error(ExitCode.TARGET_UNREACHABLE, "has no broker 9; there are 1, 2, 3"):
            find_brokers(target)


def test_another_cluster_at_an_advertised_address_is_not_taken_for_this_one() -> None:
    with listening((1, 2), cluster_id="another") as other, listening((1, 2)) as cluster:
        cluster.advertised = other.listening
        assert find_brokers(given(*cluster.listening.values())).addresses == cluster.listening
        with pytest.raises(UserError, match="broker 2 advertises"):
            find_brokers(given(cluster.listening[1]))


def test_a_given_address_that_belongs_to_another_cluster_is_told() -> None:
    with listening((1, 2), cluster_id="another") as other, listening((1, 2)) as cluster:
        target = External((cluster.listening[1], other.listening[2]), (1, 2))
        with pytest.raises(UserError, match=f"broker 2 at {other.listening[2]} did not answer"):
            find_brokers(target)


def test_silence_is_told() -> None:
    with raises_user_error(ExitCode.TARGET_UNREACHABLE, "127.0.0.1:1 did not answer a Metadata request"):
        find_brokers(given(Address("127.0.0.1", 1)))


def test_thirty_brokers_have_two_lanes_each(tmp_path_factory: pytest.TempPathFactory) -> None:
    nodes = tuple(range(100, 130))
    with listening(nodes) as cluster:
        opened = open_external(
            given(cluster.listening[100]), ClusterOptions(), tmp_path_factory.mktemp("run"), lambda _sentence: None
        )
        try:
            topology = opened.topology
            assert topology.brokers == nodes
            assert topology.lanes["observer"] == topology.advertised == cluster.listening
            if opened.links is not None:
                addresses = [topology.lanes[lane][node] for lane in LANES for node in nodes]
                assert len(set(addresses)) == 90
                assert len(topology.lane_proxies) == 60
        finally:
            opened.close()
