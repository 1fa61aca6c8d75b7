"""The container engine for tests that need one, one of their own to be hurt, and what runs left on it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from harness import wait
from harness.cluster.docker.engine import Engine, reach
from harness.cluster.docker.ownership import RUN
from harness.trouble import Trouble
from suites.selfcheck.skips import Missing, skip_missing

STARTING = 30.0
OWN_WORLD = ("unshare", "--net", "sh", "-c", 'ip link set lo up && eval "$0" && exec "$@"')
"""Interfaces, addresses and ports of its own for a command; what it leaves of them goes with it."""


@contextmanager
def engine() -> Iterator[Engine]:
    """The engine that answers; without one the test is skipped, with the reason."""
    try:
        found = reach()
    except Trouble as silent:
        skip_missing(Missing.ENGINE, remedy=str(silent))
    with closing(found):
        yield found


def left_on_engine() -> set[str]:
    """Ids of the containers, networks and volumes of all runs of Fencepost."""
    wanted = {"label": RUN}
    with engine() as found:
        api = found.sdk.api
        things = (*api.containers(all=True, filters=wanted), *api.networks(filters=wanted))
        volumes = api.volumes(filters=wanted)["Volumes"] or ()
    return {str(thing["Id"]) for thing in things} | {str(volume["Name"]) for volume in volumes}


@contextmanager
def own_engine(place: Path, *, first: str = "true") -> Iterator[str]:
    """An engine of the test's own, with its data in ``place``; the value for DOCKER_HOST.

    Its networks are not this machine's, so no cluster can be ready on it.

    :param first: What a shell does in its world before it starts.
    """
    if os.getuid() or not shutil.which("dockerd"):
        skip_missing(Missing.ENGINE, remedy="apt install docker.io, and be root")
    with tempfile.TemporaryDirectory(prefix="fencepost-") as short:  # a socket's path may have 107 characters
        host = f"unix://{short}/sock"
        flags = ["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", f"--host={host}"]
        folders = [f"--data-root={place}/data", f"--exec-root={short}/exec", f"--pidfile={short}/pid"]
        with (place.parent / "engine.log").open("w") as log:
            engine = subprocess.Popen([*OWN_WORLD, first, "dockerd", *flags, *folders], stdout=log, stderr=log)
        with engine:
            try:
                _await_engine(host, engine, Path(log.name))
                yield host
            finally:
                engine.terminate()


def _await_engine(host: str, engine: "subprocess.Popen[bytes]", log: Path) -> None:
    def decided() -> bool:
        asked = subprocess.run(["docker", "--host", host, "version"], capture_output=True, check=False)
        return asked.returncode == 0 or engine.poll() is not None

    wait.until(decided, what="an engine of the test's own", within=STARTING, every=0.1)
    if engine.poll() is not None:
        last = (log.read_text().splitlines() or ["it said nothing"])[-1]
        skip_missing(Missing.ENGINE, remedy=f"a second one does not run here: {last}")
