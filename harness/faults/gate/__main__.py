"""The gate's process: forwards until the process that started it closes the pipe, or ends.

``python -m harness.faults.gate <descriptor>``: commands come as lines of JSON over the socket, and each is answered
by one line. The loop is uvloop's: every byte of a round's clients passes here.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import uvloop

from harness.base.addresses import Address
from harness.base.json_value import Json
from harness.base.user_error import UserError
from harness.cluster.topology import node_of
from harness.evidence.json_codec import Malformed, from_plain, to_json
from harness.faults.frame_rule import Rule
from harness.faults.gate.connection.outstanding_request import WayToBroker
from harness.faults.gate.connection.proxied_connection import ProxiedConnection
from harness.faults.gate.lane_addresses import LaneAddresses
from harness.faults.gate.rulebook import Rulebook
from harness.faults.gate.watch.client_watch import ClientWatch
from harness.wire.security.client_properties import read_client_properties
from harness.wire.security.security import PLAINTEXT, Security

PARENT_CHECK_SECONDS = 0.5
"""Seconds between two checks whether our parent still runs; as a rule the end of its pipe shows it earlier."""
REFUSED = (Malformed, LookupError, ValueError, TypeError, OSError, ImportError, AttributeError)
"""What a command that cannot be done raises."""


@dataclass(slots=True)
class GateServer:
    """The listeners and the rules.

    :param security: How every broker is connected to.
    :param lanes: By proxy, for those whose answers are changed.
    """

    security: Security = PLAINTEXT
    lanes: dict[str, LaneAddresses] = field(default_factory=dict)
    rulebook: Rulebook = field(default_factory=Rulebook)
    watch: ClientWatch = field(default_factory=ClientWatch)
    connections: Iterator[int] = field(default_factory=lambda: count(1))
    connecting: set["asyncio.Task[None]"] = field(default_factory=set)
    servers: list[asyncio.Server] = field(default_factory=list)

    async def listen(self, proxy: str, host: str, upstream: Address, server_name: str) -> int:
        """Listen for a proxy; the port."""

        def accept() -> asyncio.Protocol:
            way = WayToBroker(
                proxy=proxy,
                upstream=upstream,
                security=self.security,
                server_name=server_name,
                lane_addresses=self.lanes.get(proxy),
                node=node_of(proxy),
                connection=next(self.connections),
            )
            connection = ProxiedConnection(way, self.rulebook, self.watch)
            task = asyncio.get_running_loop().create_task(connection.connect())
            self.connecting.add(task)
            task.add_done_callback(self.connecting.discard)
            return connection.client_side

        server = await asyncio.get_running_loop().create_server(accept, host, 0, backlog=512)
        self.servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def execute(self, command: Mapping[str, Json]) -> object:
        """Do one command; :raises Exception: one of :data:`REFUSED`, when it cannot be done."""
        match command:
            case {"do": "listen", "proxy": str(proxy), "host": str(host), "upstream": str(to), **rest}:
                return await self.listen(proxy, host, Address.parse(to), str(rest["server_name"]))
            case {"do": "secure", "file": str(file)}:
                self.security = read_client_properties(Path(file))
                return None
            case {"do": "keep", "proxies": [*proxies], "nodes": dict(nodes), "hosts": [*hosts]}:
                addresses = {int(node): Address.parse(str(address)) for node, address in nodes.items()}
                lane = LaneAddresses(addresses=addresses, hosts=set(map(str, hosts)))
                self.lanes |= dict.fromkeys(map(str, proxies), lane)
                return None
        return self._judge(command)

    def _judge(self, command: Mapping[str, Json]) -> object:
        """Commands about rules and logs."""
        match command:
            case {"do": "add", "rule": rule}:
                self.rulebook.add(from_plain(Rule, rule))
                return None
            case {"do": "off", "rule": str(name)}:
                self.rulebook.off(name)
                return None
            case {"do": "report", "rule": str(name)}:
                return self.rulebook.rules[name].report()
            case {"do": "watch" | "frames" | "unwatch" as do, "client_ids": [*prefixes]}:
                return WATCHING[str(do)](self.watch, [*map(str, prefixes)])
            case {"do": "errors"}:
                return [*self.rulebook.errors, *self.watch.errors()]
            case {"do": "notes"}:
                return list(dict.fromkeys(note for lane in self.lanes.values() for note in lane.notes))
        raise ValueError(f"there is no command {command}")


WATCHING: Mapping[str, Callable[[ClientWatch, list[str]], object]] = {
    "watch": ClientWatch.begin,
    "frames": ClientWatch.frames,
    "unwatch": ClientWatch.end,
}


async def serve(descriptor: int) -> None:
    """Execute commands until the pipe ends."""
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor), limit=1 << 24)
    server = GateServer()
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: server.rulebook.note_error(str(context.get("exception") or context["message"]))
    )
    watching = asyncio.get_running_loop().create_task(_end_with(os.getppid()))
    while line := await reader.readline():
        writer.write((await _reply(server, line) + "\n").encode())
    watching.cancel()


async def _reply(server: GateServer, line: bytes) -> str:
    try:
        return to_json({"done": await server.execute(json.loads(line))})
    except UserError as error:
        return to_json({"refused": str(error)})
    except REFUSED as error:
        return to_json({"refused": f"{type(error).__name__}: {error}"})


async def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(PARENT_CHECK_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
