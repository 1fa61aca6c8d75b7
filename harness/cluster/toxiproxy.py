"""The Toxiproxy server and its proxies: every link and lane that a fault can be put on.

Each cluster has a server of its own, on an address of its own. toxiproxy-python keeps the server's address in the
state of its class ``APIConsumer``, and its ``Proxy`` and ``Toxiproxy`` objects can only reach that one. So we use the
library's consumer and its errors, with a subclass for each server, and not those objects.
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
READY_SECONDS = 20.0
METRICS_FLAG = "-proxy-metrics"
ENVIRONMENT = {
    "LOG_LEVEL": "warn",  # else its log has a line for every connection
    "GOMAXPROCS": "1",  # threads that look for work on the other core take a fifth more of it
}
RECEIVED_BYTES = re.compile(
    r'^toxiproxy_proxy_received_bytes_total\{direction="upstream",.*proxy="(?P<proxy>[^"]+)".*\} (?P<bytes>\S+)$', re.M
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy to create: connections to ``listen`` are passed on to ``upstream``."""

    name: str
    listen: Address
    upstream: Address


@dataclass(frozen=True, slots=True)
class ToxiproxyLinks:
    """The proxies of one server; fills :class:`harness.cluster.cluster.Links`.

    :param doorstep: An address of this machine that the server reaches.
    :param upstream_hosts: Hosts of upstreams, as the server knows them, to their addresses as seen from this machine.
    :param namespace: The id of a process in whose network namespace the proxies listen; None for our own.
    """

    api: Address
    host_for_proxies: str = "127.0.0.1"
    upstream_hosts: Mapping[str, str] = field(default_factory=dict)
    namespace: int | None = None
    _original_upstreams: dict[str, str] = field(default_factory=dict)

    def create(self, proxies: Sequence[Proxy]) -> None:
        """Create all proxies by one request."""
        wanted = [{"name": p.name, "listen": str(p.listen), "upstream": str(p.upstream)} for p in proxies]
        self._request("post", "/populate", json=wanted)

    def add_toxic(
        self, proxy: str, *, kind: str, direction: Direction, attributes: Mapping[str, int], name: str
    ) -> None:
        """Put a toxic on a proxy; ``upstream`` is from the connecting side to the server.

        :raises LookupError: When there is no such proxy.
        :raises ValueError: When Toxiproxy does not take the toxic.
        """
        toxic = {"name": name, "type": kind, "stream": direction, "toxicity": 1.0, "attributes": dict(attributes)}
        self._request("post", f"/proxies/{proxy}/toxics", json=toxic)

    def remove_toxic(self, proxy: str, name: str) -> None:
        try:
            self._request("delete", f"/proxies/{proxy}/toxics/{name}")
        except LookupError:
            return

    def disable(self, proxy: str) -> None:
        self._request("post", f"/proxies/{proxy}", json={"enabled": False})

    def enable(self, proxy: str) -> None:
        self._request("post", f"/proxies/{proxy}", json={"enabled": True})

    def upstream(self, proxy: str) -> Address:
        host, _, port = self._upstream_of(proxy).rpartition(":")
        return Address(self.upstream_hosts.get(host, host), int(port))

    def redirect(self, proxy: str, address: Address) -> None:
        self._original_upstreams.setdefault(proxy, self._upstream_of(proxy))
        self._request("post", f"/proxies/{proxy}", json={"upstream": str(address)})

    def restore(self, proxy: str) -> None:
        if first := self._original_upstreams.pop(proxy, None):
            self._request("post", f"/proxies/{proxy}", json={"upstream": first})

    def _upstream_of(self, proxy: str) -> str:
        return str(self._request("get", f"/proxies/{proxy}").json()["upstream"])

    def traffic(self, proxy: str) -> int:
        """Bytes that the proxy has received from the connecting side so far; a difference is what a fault met.

        Toxiproxy counts a connection's bytes when it has ended, the kernel those of one that is open.
        """
        counted = RECEIVED_BYTES.finditer(self._request("get", "/metrics").text)
        ended = sum(int(float(one["bytes"])) for one in counted if one["proxy"] == proxy)
        return ended + sum(connection.received for connection in self._open_connections(proxy))

    def connections(self, proxy: str) -> frozenset[int]:
        return frozenset(connection.number for connection in self._open_connections(proxy))

    def _open_connections(self, proxy: str) -> Sequence[TcpConnection]:
        listen = Address.parse(self._request("get", f"/proxies/{proxy}").json()["listen"])
        try:
            return established(listen, self.namespace)
        except OSError:
            return []

    def disturbed(self) -> Sequence[str]:
        proxies = self._request("get", "/proxies").json()
        toxics = [f"{name}/{toxic['name']}" for name, proxy in proxies.items() for toxic in proxy["toxics"]]
        return sorted(toxics + [f"{name} disabled" for name, proxy in proxies.items() if not proxy["enabled"]])

    def reset(self) -> None:
        self._request("post", "/reset")
        for proxy in list(self._original_upstreams):
            self.restore(proxy)

    def answers(self) -> bool:
        try:
            return bool(self._request("get", "/version").ok)
        except requests.ConnectionError:
            return False

    def version(self) -> str:
        """The version that the server reports; one built from a module, as ours is, reports ``git``."""
        answer = self._request("get", "/version").text.strip()
        version = str(json.loads(answer)["version"]) if answer.startswith("{") else answer
        return VERSION if version == "git" else version

    def _request(self, verb: str, path: str, **body: Any) -> requests.Response:
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


def launch(processes: RunProcesses, program: Path, api: Address, *, log: Path) -> ToxiproxyLinks:
    """Start the server without waiting for it, so that the brokers' JVMs can start at the same time."""
    environment = {**os.environ, **ENVIRONMENT}
    processes.start(
        [program, "-host", api.host, "-port", str(api.port), METRICS_FLAG], log=log, environment=environment
    )
    return ToxiproxyLinks(api)


def await_answer(links: ToxiproxyLinks) -> None:
    """Wait until the server takes requests; :raises UserError: NOT_READY, when it does not."""
    try:
        wait.until(links.answers, what="Toxiproxy", timeout_seconds=READY_SECONDS)
    except wait.TimedOut as late:
        raise UserError(
            f"Toxiproxy did not answer at {links.api} within {READY_SECONDS:g} s", exit=ExitCode.NOT_READY
        ) from late


def program(progress: Callable[[str], None]) -> Path:
    """``toxiproxy-server`` on the PATH, else built once by Go.

    :raises UserError: TOOL_MISSING, when there is neither.
    """
    if found := shutil.which("toxiproxy-server"):
        return Path(found)
    return built(progress)


def built(progress: Callable[[str], None]) -> Path:
    """The server, built once by Go: a static file, which also runs in an empty container image.

    :raises UserError: TOOL_MISSING, when there is no Go.
    """
    entry = download_cache.cache_root() / "toxiproxy" / VERSION
    if not entry.is_dir():
        progress(f"building Toxiproxy {VERSION} with Go (once)")
    return download_cache.create_once(entry, _build) / "server"


def _build(draft: Path) -> None:
    go = toolchain.tool("go", needed_for="to build Toxiproxy")
    environment = {**os.environ, "CGO_ENABLED": "0", "GOBIN": str(draft)}
    ran = subprocess.run(
        [go, "install", MODULE], env=environment, capture_output=True, text=True, check=False, start_new_session=True
    )
    if ran.returncode:
        if "no space left on device" in ran.stderr:
            raise download_cache.disk_full_error(" while Go was building Toxiproxy")
        last = (ran.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(
            f"Go cannot build Toxiproxy {VERSION} ({last}); check the network, or put toxiproxy-server on the PATH",
            exit=ExitCode.TOOL_MISSING,
        )
