"""A lab's clients, closed from another thread while they are used."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.base.clock import RunClock
from harness.base.wait import Patience
from harness.cluster.topology import Topology
from harness.evidence.recorder import NullRecorder
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.lane_clients import LaneClients
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import ConnectionClosed
from suites.selfcheck.wire.small_broker import END, broker, well

IN_TIME = 5


@contextmanager
def lane_clients() -> Iterator[LaneClients]:
    """Those of a requirement on one small broker."""
    with broker(well) as (address, _):
        topology = Topology(brokers=(1,), controller=None, lanes={"victim": {1: address}, "rival": {1: address}})
        clock = RunClock()
        made = LaneClients(
            topology=topology, offered_by={}, requirement="R", clock=clock, recorder=NullRecorder(),
            notes=EvidenceBuilder(), patience=Patience(),
        )  # fmt: skip
        yield made
        made.close()


def test_a_lane_has_one_client_and_as_many_more_as_are_asked_for() -> None:
    with lane_clients() as clients:
        first = clients.step_recorder("victim")
        assert first.client.call(1, END, 3).result.error == 0
        assert clients.step_recorder("victim") is first
        assert first.another is not None
        assert first.another().client is not first.client


def test_what_is_opened_after_the_end_is_closed_at_once() -> None:
    with lane_clients() as clients:
        clients.close()
        for opened in (clients.step_recorder("victim"), clients.another("victim")):
            with pytest.raises(ConnectionClosed, match="the client was closed"):
                opened.client.call(1, END, 3)


def test_a_client_that_is_opened_while_others_are_closed_is_closed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where Ctrl-C comes while a requirement on another thread takes up its next lane."""
    close, late = WireClient.close, list[WireClient]()

    def open_one_more() -> None:
        late.append(clients.step_recorder("rival").client)

    opener = threading.Thread(target=open_one_more)

    def close_beside(client: WireClient) -> None:
        if opener.ident is None:
            opener.start()
            opener.join(IN_TIME)
        close(client)

    with lane_clients() as clients:
        clients.step_recorder("victim")
        monkeypatch.setattr(WireClient, "close", close_beside)
        clients.close()
        with pytest.raises(ConnectionClosed, match="the client was closed"):
            late[0].call(1, END, 3)
