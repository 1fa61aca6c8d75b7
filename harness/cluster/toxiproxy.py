"""The Toxiproxy server and its proxies: every link and lane that a fault can be put on.

Each cluster has a server of its own, on an address of its own. toxiproxy-python keeps the server's address in the
state of its class ``APIConsumer``, and its ``Proxy`` and ``Toxiproxy`` objects can only speak to that one; so we use
the library's consumer and its errors, with a class of it for each server, and leave those objects aside.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from toxiproxy.api import APIConsumer
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

from harness.base import wait
from harness.base.addresses import Address
from harness.base.user_error import ExitCode, UserError
from harness.cluster.cluster import Direction
from harness.machine import download_cache, toolchain
from harness.machine.run_processes import RunProcesses
from harness.machine.socket_traffic import TcpConnection, established

VERSION = "v2.12.0"
MODULE = f"github.com/Shopify/toxiproxy/v2/cmd/server@{VERSION}"
READY = 20.0
COUNTING = "-proxy-metrics"
COUNTED = re.compile(
    r'^toxiproxy_proxy_received_bytes_total\{direction="upstream",.*proxy="(?P<proxy>[^"]+)".*\} (?P<bytes>\S+)$', re.M
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy to make: who connects to ``listen`` reaches ``upstream``."""

    name: str
    listen: Address
    upstream: Address


@dataclass(frozen=True, slots=True)
class ToxiproxyLinks:
    """The proxies of one server; fills :class:`harness.cluster.cluster.Links`.

    :param doorstep: An address of this machine that the server reaches.
    :param reached_at: Hosts of upstreams, as the server knows them, to what they are from this machine.
    :param namespace: A process in whose network namespace the proxies listen; None for our own.
    """

    api: Address
    doorstep: str = "127.0.0.1"
    reached_at: Mapping[str, str] = field(default_factory=dict)
    namespace: int | None = None
    _at_first: dict[str, str] = field(default_factory=dict)

    def create(self, proxies: Sequence[Proxy]) -> None:
        """Make all proxies by one request."""
        wanted = [{"name": p.name, "listen": str(p.listen), "upstream": str(p.upstream)} for p in proxies]
        self._say("post", "/populate", json=wanted)

    def add_toxic(
        self, proxy: str, *, kind: str, direction: Direction, attributes: Mapping[str, int], name: str
    ) -> None:
        """Put a toxic on a proxy; ``upstream`` is from the connecting side to the server.

        :raises LookupError: When there is no such proxy.
        :raises ValueError: When Toxiproxy does not take the toxic.
        """
        toxic = {"name": name, "type": kind, "stream": direction, "toxicity": 1.0, "attributes": dict(attributes)}
        self._say("post", f"/proxies/{proxy}/toxics", json=toxic)

    def remove_toxic(self, proxy: str, name: str) -> None:
        """Take it off again; bytes that it held are delivered in order. Removing one that is gone is no error."""
        try:
            self._say("delete", f"/proxies/{proxy}/toxics/{name}")
        except LookupError:
            return

    def disable(self, proxy: str) -> None:
        """Close the proxy's connections and refuse new ones."""
        self._say("post", f"/proxies/{proxy}", json={"enabled": False})

    def enable(self, proxy: str) -> None:
        """Let connections through again."""
        self._say("post", f"/proxies/{proxy}", json={"enabled": True})

    def upstream(self, proxy: str) -> Address:
        """Where the proxy leads, as it is reached from this machine; a redirected one: where it leads now."""
        host, _, port = self._leads_to(proxy).rpartition(":")
        return Address(self.reached_at.get(host, host), int(port))

    def redirect(self, proxy: str, address: Address) -> None:
        """Lead new connections elsewhere; those that are open end."""
        self._at_first.setdefault(proxy, self._leads_to(proxy))
        self._say("post", f"/proxies/{proxy}", json={"upstream": str(address)})

    def restore(self, proxy: str) -> None:
        """Lead to where it led at first. One that was never redirected is left alone."""
        if first := self._at_first.pop(proxy, None):
            self._say("post", f"/proxies/{proxy}", json={"upstream": first})

    def _leads_to(self, proxy: str) -> str:
        return str(self._say("get", f"/proxies/{proxy}").json()["upstream"])

    def traffic(self, proxy: str) -> int:
        """Bytes that came to the proxy from the connecting side so far; a difference is what a fault met.

        Toxiproxy counts a connection's bytes when it has ended, the kernel those of one that is open.
        """
        counted = COUNTED.finditer(self._say("get", "/metrics").text)
        ended = sum(int(float(one["bytes"])) for one in counted if one["proxy"] == proxy)
        return ended + sum(connection.received for connection in self._open(proxy))

    def connections(self, proxy: str) -> frozenset[int]:
        """Those that are open now, by numbers that are never used again; none where the kernel does not show them."""
        return frozenset(connection.number for connection in self._open(proxy))

    def _open(self, proxy: str) -> Sequence[TcpConnection]:
        listen = str(self._say("get", f"/proxies/{proxy}").json()["listen"])
        try:
            return [one for one in established(self.namespace) if str(one.local) == listen]
        except OSError:
            return []

    def disturbed(self) -> Sequence[str]:
        """Every toxic and disabled proxy that is still there, as ``proxy/toxic`` or ``proxy disabled``."""
        proxies = self._say("get", "/proxies").json()
        toxics = [f"{name}/{toxic['name']}" for name, proxy in proxies.items() for toxic in proxy["toxics"]]
        return sorted(toxics + [f"{name} disabled" for name, proxy in proxies.items() if not proxy["enabled"]])

    def reset(self) -> None:
        """Enable all proxies, remove all toxics, restore all upstreams."""
        self._say("post", "/reset")
        for proxy in list(self._at_first):
            self.restore(proxy)

    def answers(self) -> bool:
        """True when the server takes requests."""
        try:
            return bool(self._say("get", "/version").ok)
        except requests.ConnectionError:
            return False

    def version(self) -> str:
        """The server's own word for its version; one built from a module says ``git``, and ours is built so."""
        said = self._say("get", "/version").text.strip()
        told = str(json.loads(said)["version"]) if said.startswith("{") else said
        return VERSION if told == "git" else told

    def _say(self, verb: str, path: str, **body: Any) -> requests.Response:
        consumer = type("Consumer", (APIConsumer,), {"host": self.api.host, "port": self.api.port})
        try:
            response: requests.Response = getattr(consumer, verb)(path, **body)
        except NotFound as error:
            raise LookupError(f"Toxiproxy has no {path}: {error}") from error
        except (InvalidToxic, ProxyExists) as error:
            raise ValueError(f"Toxiproxy refuses {body}: {error}") from error
        if not response.ok:
            raise ValueError(f"Toxiproxy refuses {path} {body}: {response.text}")
        return response


def launch(area: RunProcesses, program: Path, api: Address, *, log: Path) -> ToxiproxyLinks:
    """Start the server without waiting for it, so that the brokers' JVMs can start at the same time."""
    quiet = {**os.environ, "LOG_LEVEL": "warn"}  # its log would tell every connection of every run
    area.start([program, "-host", api.host, "-port", str(api.port), COUNTING], log=log, environment=quiet)
    return ToxiproxyLinks(api)


def await_answer(links: ToxiproxyLinks) -> None:
    """Wait until the server takes requests.

    :raises Trouble: NOT_READY, when it does not.
    """
    try:
        wait.until(links.answers, what="Toxiproxy", within=READY)
    except wait.NotInTime as late:
        raise UserError(
            f"Toxiproxy did not answer at {links.api} within {READY:g} s", exit=ExitCode.NOT_READY
        ) from late


def program(progress: Callable[[str], None]) -> Path:
    """``toxiproxy-server`` on the PATH, else built once by Go.

    :raises Trouble: TOOL_MISSING, when there is neither.
    """
    if found := shutil.which("toxiproxy-server"):
        return Path(found)
    return built(progress)


def built(progress: Callable[[str], None]) -> Path:
    """The server, built once by Go: a static file, which also runs in an empty container image.

    :raises Trouble: TOOL_MISSING, when there is no Go.
    """
    place = download_cache.cache_root() / "toxiproxy" / VERSION
    if not place.is_dir():
        progress(f"building Toxiproxy {VERSION} with Go (once)")
    return download_cache.made_once(place, _build) / "server"


def _build(draft: Path) -> None:
    go = toolchain.tool("go", needed_for="to build Toxiproxy")
    environment = {**os.environ, "CGO_ENABLED": "0", "GOBIN": str(draft)}
    said = subprocess.run(
        [go, "install", MODULE], env=environment, capture_output=True, text=True, check=False, start_new_session=True
    )
    if said.returncode:
        if "no space left on device" in said.stderr:
            raise download_cache.no_room(" while Go was building Toxiproxy")
        last = (said.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(
            f"Go cannot build Toxiproxy {VERSION} ({last}); check the network, or put toxiproxy-server on the PATH",
            exit=ExitCode.TOOL_MISSING,
        )
