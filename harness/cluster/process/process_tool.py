"""A command line tool of the target as a local process, its output kept beside the logs of the nodes."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import ClassVar

from harness.cluster.cluster import ToolResult
from harness.cluster.nodes import java_agents
from harness.cluster.nodes.jvm_command import Launch
from harness.machine.run_processes import RunProcesses


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessTool:
    """Fills :class:`harness.cluster.cluster.RunningTool`."""

    process: subprocess.Popen[bytes]
    stdout: Path
    stderr: Path

    def wait(self, timeout_seconds: float) -> ToolResult | None:
        try:
            code = self.process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        texts = (file.read_text(encoding="utf-8", errors="replace") for file in (self.stdout, self.stderr))
        return ToolResult(exit_code=code, stdout=next(texts), stderr=next(texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessTools:
    """Starts tools from the jars that the nodes run on."""

    folder: ClassVar[str] = "tools"
    processes: RunProcesses
    launch: Launch
    logs: Path
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def start(self, main: str, arguments: Sequence[str], rules: Sequence[str]) -> ProcessTool:
        """Start the class with these arguments, broken by these Byteman rules."""
        folder = self.logs / self.folder
        folder.mkdir(exist_ok=True)
        stdout = folder / f"{next(self._numbers):03}-{main.rpartition('.')[2]}.out"
        stderr = stdout.with_suffix(".err")
        script = stdout.with_suffix(".btm")
        if rules:
            script.write_text("".join(rules))
        command = self.launch.tool(main, *arguments, flags=java_agents.broken_by(script) if rules else ())
        process = self.processes.start(command, log=stdout, errors=stderr)
        return ProcessTool(process=process, stdout=stdout, stderr=stderr)
