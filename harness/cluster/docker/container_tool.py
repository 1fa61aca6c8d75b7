"""A command line tool of the target as a container of its own, in the network of the engine's machine.

There the lanes have the same addresses as for our clients, which is what brokers advertise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.base.unprepared import OutOfReach
from harness.cluster.cluster import ToolResult
from harness.cluster.docker import container_files
from harness.cluster.docker.engine import RequestException
from harness.cluster.docker.image_start_cache import NODE, StartImage
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.nodes import java_agents

SCRIPT = NODE / "rules.btm"


@dataclass(frozen=True, slots=True)
class ContainerTool:
    """Fills :class:`harness.cluster.cluster.RunningTool`; the container goes with the run's others."""

    container: Any

    def wait(self, timeout_seconds: float) -> ToolResult | None:
        try:
            code = self.container.wait(timeout=timeout_seconds)["StatusCode"]
        except RequestException:
            self.container.kill()
            return None
        stdout, stderr = (self.container.logs(stdout=out, stderr=not out).decode() for out in (True, False))
        return ToolResult(exit_code=code, stdout=stdout, stderr=stderr)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerTools:
    """Starts tools from the image that the nodes run on."""

    run: OwnedResources
    image: StartImage

    def start(self, main: str, arguments: Sequence[str], rules: Sequence[str]) -> ContainerTool:
        """Start the class with these arguments, broken by these Byteman rules.

        :raises OutOfReach: When the engine is not on this machine.
        """
        if not self.run.engine.on_this_machine:
            raise OutOfReach("the container engine is not on this machine, so a tool in it cannot reach the lanes")
        flags = java_agents.broken_by(SCRIPT) if rules else ()
        command = list(map(str, self.image.launch(()).tool(main, *arguments, flags=flags)))
        container = self.run.container(self.image.image, entrypoint=["java"], command=command[1:], network_mode="host")
        if rules:
            jar = java_agents.jar_of(java_agents.BYTEMAN)
            container_files.put_files(container, {str(jar): jar, str(SCRIPT): "".join(rules).encode()})
        container.start()
        return ContainerTool(container)
