"""Single requests are taken out of what passes a proxy, which nobody can read where clients speak TLS through it."""

from dataclasses import dataclass
from typing import cast

import pytest

from harness.base.clock import RunClock
from harness.base.unprepared import OutOfReach
from harness.cluster.cluster import Cluster
from harness.cluster.topology import Topology, lane_name
from harness.contract import Access
from harness.lab.lab_faults import LabFaults
from harness.lab.powers.request_gate import RequestGate
from harness.wire.security.security import PLAINTEXT, Security, TlsSettings

TLS = Security(tls=TlsSettings())
VICTIM = lane_name("victim", 1)


@dataclass
class Reached:
    """A cluster that is reached so."""

    topology: Topology


def faults(security: Security, *, plain: bool = False) -> LabFaults:
    """Of a cluster with one proxied lane, and without a gate."""
    topology = Topology(
        brokers=(1,),
        controller=None,
        lanes={},
        lane_proxies={("victim", 1): VICTIM},
        security=security,
        plain_lanes=frozenset({"victim"}) if plain else frozenset(),
    )
    lab = LabFaults(cluster=cast(Cluster, Reached(topology)), clock=RunClock())
    lab.request_gate = RequestGate(open_gate=None, clock=lab.clock)
    return lab


def why_not(lab: LabFaults) -> str:
    """What is said of a gate on the lane."""
    with pytest.raises(OutOfReach) as said, lab.gate(VICTIM, api="EndTxn", action="hold", name="held"):
        pass
    assert lab.accessed == {Access.LANES}
    return str(said.value)


def test_requests_of_clients_that_speak_tls_are_out_of_reach() -> None:
    assert "is encrypted" in why_not(faults(TLS))


@pytest.mark.parametrize("lab", [faults(PLAINTEXT), faults(TLS, plain=True)], ids=["plaintext", "a plain lane"])
def test_what_can_be_read_lacks_only_the_gate(lab: LabFaults) -> None:
    assert "no gate for single requests" in why_not(lab)
