"""How connections and the gate itself end, before a fake broker, and what the gate says of what it cannot do."""

import os
import signal
import socket
import struct
import subprocess
import sys

import psutil
import pytest

from harness.base import wait
from harness.faults.frame_gate import GateFailed
from harness.faults.frame_rule import Then, When
from suites.selfcheck.fixtures.gate_pair import (
    ANY,
    PATIENCE,
    GatePair,
    RunningGate,
    end,
    gate_pair,
    held,
    on,
    read_frame,
    running_gate,
)

pytest_plugins = ("suites.selfcheck.fixtures.gate_pair",)


@pytest.mark.parametrize(
    "garbage", [b"GET / HTTP/1.1\r\n\r\n", struct.pack(">i", -5) + b"12345678", struct.pack(">ii", 4, 1)]
)
def test_garbage_ends_its_own_connection_and_nothing_else(pair: GatePair, garbage: bytes) -> None:
    client, other = pair.call(), pair.call()
    client.connected.sendall(garbage)
    assert client.answer() is None
    other.ask(1, end(), 3)
    assert other.answer() == (1, 0)
    assert pair.broker.correlations == [1]


def test_half_a_frame_at_the_end_of_a_connection_is_nothing(pair: GatePair) -> None:
    client = pair.call()
    client.connected.sendall(struct.pack(">i", 100) + b"half")
    client.connected.close()
    wait.until(lambda: pair.broker.left == [1], what="the end of the broker's side", timeout_seconds=PATIENCE)
    assert pair.broker.frames == []


def test_an_unreadable_request_passes_and_is_counted(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="drop-request"))
    client.connected.sendall(struct.pack(">ihhih", 12, 26, 3, 9, -1) + b"\0\xff")
    wait.until(lambda: pair.broker.correlations == [9], what="the request", timeout_seconds=PATIENCE)
    report = handle.report()
    assert (report.seen, report.struck, report.unreadable) == (1, 0, 1)


def test_a_client_is_disconnected_when_the_broker_accepts_no_connection(pair: GatePair) -> None:
    pair.broker.listener.shutdown(socket.SHUT_RDWR)
    assert pair.call().answer() is None


def test_a_client_is_disconnected_when_the_broker_hangs_up_and_what_was_held_is_lost(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="hold"))
    client.ask(1, end(), 3)
    held(handle)
    wait.until(lambda: pair.broker.connections, what="the broker to accept", timeout_seconds=PATIENCE)
    pair.broker.connections[0].shutdown(socket.SHUT_RDWR)
    assert client.answer() is None
    assert [strike.fate for strike in handle.report().strikes] == ["lost"]


def test_closing_leads_proxies_back_and_ends_the_process_twice_over() -> None:
    with running_gate() as running, gate_pair(*running) as pair:
        assert pair.links.upstreams[pair.proxy] != pair.broker.address
        pair.gate.close()
        pair.gate.close()
        assert pair.links.upstreams[pair.proxy] == pair.broker.address
        assert pair.gate.process.returncode == 0
        with pytest.raises(GateFailed, match="gone"):
            pair.gate.report("tried-1")


def test_what_the_gate_does_not_know_is_refused_with_the_reason(pair: GatePair) -> None:
    with pytest.raises(GateFailed, match="NoSuchApi"):
        on(pair, When(apis=("NoSuchApi",)), Then(action="hold"))
    with pytest.raises(GateFailed, match="no_such_liar"):
        on(pair, ANY, Then(action="lie", lie="toxics.liars.no_such_liar:lie"))
    with pytest.raises(GateFailed):
        pair.gate.report("never")


PARENT = """
import sys
from harness.faults.gate.gate import open_gate
gate = open_gate(None)
gate.errors()
print(gate.process.pid, flush=True)
sys.stdin.read()
"""


def test_the_gate_ends_when_its_parent_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        gate = psutil.Process(int(parent.stdout.readline()))
        os.kill(parent.pid, signal.SIGKILL)
    gone, _ = psutil.wait_procs([gate], timeout=PATIENCE)
    assert gone


def test_the_gates_own_errors_are_reported(gate_process: RunningGate) -> None:
    garbage = b"\0\0\0\1\xff"
    with running_gate() as running, gate_pair(*running, lambda _: garbage) as pair:
        on(pair, ANY, Then(action="hold", at_most_ms=0))
        client = pair.call()
        client.ask(1, end(), 3)
        assert read_frame(client.connected) == garbage, "what the gate cannot decode passes as it came"
        assert ["passed undecoded" in error for error in running[0].errors()] == [True]
        running[0].process.kill()
        running[0].process.wait(PATIENCE)
        assert "the gate is gone" in running[0].errors()[0]
    assert gate_process[0].errors() == ()
