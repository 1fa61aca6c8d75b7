"""What the gate adds to a small request's round trip: through Toxiproxy and the gate, beside Toxiproxy alone.

Both ways lead to one echo of frames.
"""

import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from harness.base.addresses import Address
from harness.cluster import toxiproxy
from harness.cluster.process.loopback_addresses import claim_block
from harness.cluster.toxiproxy import Proxy
from harness.faults.frame_rule import Rule, Then, When
from harness.faults.gate.gate import open_gate
from harness.machine.run_processes import open_run_processes
from harness.wire.frames import encode
from suites.selfcheck.fixtures.gate_pair import end

TURNS = 4_000
WAYS = ALONE, GATED = "toxiproxy-alone", "with-the-gate"
ECHO = """
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    while True:
        connected, _ = listener.accept()
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if __import__("os").fork() == 0:
            while data := connected.recv(65536):
                connected.sendall(data)
            sys.exit()
"""


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, socket.socket]]:
    """A connection by Toxiproxy alone, and one by Toxiproxy and the gate, in which a rule looks at other APIs."""
    with ExitStack() as undo:
        echo = undo.enter_context(subprocess.Popen([sys.executable, "-c", ECHO], stdout=subprocess.PIPE, text=True))
        undo.callback(echo.kill)
        assert echo.stdout is not None
        upstream = Address("127.0.0.1", int(echo.stdout.readline()))
        area, block = open_run_processes(), claim_block()
        undo.callback(area.close)
        undo.callback(block.guard.close)
        log = tmp_path_factory.mktemp("gate") / "toxiproxy.log"
        links = toxiproxy.launch(area, toxiproxy.program(print), block.toxiproxy(), log=log)
        toxiproxy.await_answer(links)
        listens = {way: Address(block.host(20 + i), 9092) for i, way in enumerate(WAYS)}
        links.create([Proxy(name=way, listen=listen, upstream=upstream) for way, listen in listens.items()])
        gate = open_gate(links)
        undo.callback(gate.close)
        gate.intercept(GATED)
        gate.add_rule(Rule(name="r", proxies=(GATED,), when=When(apis=("Produce",)), then=Then(action="hold")))
        yield {way: connected(undo, listen) for way, listen in listens.items()}


def connected(undo: ExitStack, address: Address) -> socket.socket:
    """A connection without Nagle's delay."""
    made = undo.enter_context(socket.create_connection((address.host, address.port), 5))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


@pytest.mark.benchmark(group="a small request's round trip; the difference of medians is to be under 0.5 ms")
@pytest.mark.parametrize("way", WAYS)
def test_round_trip(benchmark: BenchmarkFixture, ways: Mapping[str, socket.socket], way: str) -> None:
    request, plug = encode(end().build(3), 1, "who"), ways[way]

    def asked() -> bytes:
        plug.sendall(request)
        return plug.recv(len(request), socket.MSG_WAITALL)

    assert benchmark.pedantic(asked, rounds=TURNS, warmup_rounds=200) == request
