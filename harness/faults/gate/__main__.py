"""The gate's process: relays until whoever started it closes the pipe, or is gone.

``python -m harness.faults.gate <descriptor>``: commands come as lines of JSON over the socket, and each is answered
by one.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.base.addresses import Address
from harness.base.json_value import Json
from harness.evidence.json_codec import Malformed, from_plain, to_json
from harness.faults.gate.proxied_connection import ProxiedConnection
from harness.faults.gate.rule import Rule
from harness.faults.gate.rulebook import Rulebook

ORPHANED = 0.5
"""Seconds between two looks whether our parent is still there; its pipe's end tells earlier as a rule."""


@dataclass(slots=True)
class GateServer:
    """The listeners and the rules."""

    book: Rulebook = field(default_factory=Rulebook)
    connecting: set["asyncio.Task[None]"] = field(default_factory=set)
    servers: list[asyncio.Server] = field(default_factory=list)

    async def listen(self, proxy: str, host: str, upstream: Address) -> int:
        """Listen for a proxy; the port."""

        def admit() -> asyncio.Protocol:
            passage = ProxiedConnection(proxy, upstream, self.book)
            task = asyncio.get_running_loop().create_task(passage.connect())
            self.connecting.add(task)
            task.add_done_callback(self.connecting.discard)
            return passage.caller

        server = await asyncio.get_running_loop().create_server(admit, host, 0, backlog=512)
        self.servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def obey(self, command: Mapping[str, Json]) -> object:
        """Do one command; :raises Malformed, KeyError, ValueError, OSError, ImportError: when it cannot be done."""
        match command:
            case {"do": "listen", "proxy": str(proxy), "host": str(host), "upstream": [str(leads), int(port)]}:
                return await self.listen(proxy, host, Address(leads, port))
            case {"do": "add", "rule": rule}:
                self.book.add(from_plain(Rule, rule))
                return None
            case {"do": "off" | "release" | "account" as what, "rule": str(name)}:
                return self._rule(what)(name)
            case {"do": "troubles"}:
                return self.book.troubles
        raise ValueError(f"nobody knows how to do {command}")

    def _rule(self, what: str) -> Callable[[str], object]:
        rules = self.book.rules
        return {
            "off": self.book.off,
            "release": lambda name: rules[name].release(),
            "account": lambda name: rules[name].account(),
        }[what]


async def serve(descriptor: int) -> None:
    """Obey until the pipe ends."""
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=descriptor), limit=1 << 24)
    house = GateServer()
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: house.book.user_error(str(context.get("exception") or context["message"]))
    )
    watching = asyncio.get_running_loop().create_task(_end_with(os.getppid()))
    while line := await reader.readline():
        writer.write((await _answer(house, line) + "\n").encode())
    watching.cancel()


async def _answer(house: GateServer, line: bytes) -> str:
    try:
        return to_json({"done": await house.obey(json.loads(line))})
    except (Malformed, LookupError, ValueError, OSError, ImportError, AttributeError) as error:
        return to_json({"refused": f"{type(error).__name__}: {error}"})


async def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(ORPHANED)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
