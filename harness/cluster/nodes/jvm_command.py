"""The command line of a node's JVM: our flags for a quick start on a small machine, then the user's options.

HotSpot takes the last of two values for one flag, but refuses two collectors, and an initial heap above the maximum.
So ours are left out where the user chose a collector, a heap or an archive.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.paths import COMPOSE
from harness.machine.toolchain import Java

# C1 only: a node lives for minutes, too short for the second compiler to gain anything.
COMPILER = "-XX:TieredStopAtLevel=1"
COLLECTOR = "-XX:+UseSerialGC"
HEAP = "-Xmx256m"
# From Java 21 on an agent that is loaded later gets a warning in the log without it.
AGENTS = "-XX:+EnableDynamicAgentLoading"
CHOOSES_COLLECTOR = re.compile(r"-XX:\+Use\w*GC$")
CHOOSES_HEAP = re.compile(r"-Xm[xsn]|-XX:(Max|Initial|Min)?(Heap|New|RAM|MaxHeap)\w*=|-XX:(Max|Initial|Min)RAM\w*=")
CHOOSES_ARCHIVE = re.compile(r"-XX:SharedArchiveFile=|-Xshare:|-XX:ArchiveClassesAtExit=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What all nodes of a cluster start with.

    :param java: The JVM.
    :param class_path: An ``@argfile`` with the explicit, sorted class path that the archive was made with.
    :param version: Kafka's, which decides the logging library.
    :param archive: AppCDS archive, or None while it is being made.
    :param options: The user's own JVM options.
    :param logging: The folder of the logging libraries' settings, as the JVM sees it.
    """

    java: Java
    class_path: Path
    version: str
    archive: Path | None = None
    options: tuple[str, ...] = ()
    logging: Path = COMPOSE

    def command(self, main: str, *arguments: str | Path, flags: Sequence[str] = ()) -> list[str | Path]:
        """The command that runs ``main``; the user's options come last, so that they win."""
        ours = [*flags, *quick_start_flags(self.options, self.archive), *_logging(self.version, self.logging)]
        return [self.java.program, f"@{self.class_path}", *ours, *self.options, main, *arguments]

    def tool(self, main: str, *arguments: str, flags: Sequence[str] = ()) -> list[str | Path]:
        """The command that runs one of Kafka's tools: without the options of nodes, without logs in its output."""
        # Without a file of settings, Log4j 2 writes errors to stdout; reload4j writes nothing.
        ours = [*flags, *system_properties({"log4j2.level": "OFF"}), *quick_start_flags((), self.archive)]
        return [self.java.program, f"@{self.class_path}", *ours, main, *arguments]


def quick_start_flags(chosen: Sequence[str], archive: Path | None) -> list[str]:
    """Our flags for a quick start, without those that the user's choice excludes."""
    flags = {COMPILER: None, AGENTS: None, COLLECTOR: CHOOSES_COLLECTOR, HEAP: CHOOSES_HEAP}
    kept = [flag for flag, rival in flags.items() if rival is None or not any(map(rival.match, chosen))]
    if archive is not None and not any(map(CHOOSES_ARCHIVE.match, chosen)):
        kept.append(f"-XX:SharedArchiveFile={archive}")
    return kept


def system_properties(properties: Mapping[str, str | Path]) -> list[str]:
    return [f"-D{key}={value}" for key, value in properties.items()]


def class_path(jars: Sequence[Path]) -> str:
    """An ``@argfile``'s text: the class path in quotes, because a folder's name may hold a space."""
    joined = ":".join(map(str, jars)).replace("\\", "\\\\").replace('"', '\\"')
    return f'-cp "{joined}"\n'


def _logging(version: str, folder: Path) -> list[str]:
    if version.startswith("3."):
        return system_properties({"log4j.configuration": (folder / "log4j.properties").as_uri()})
    return system_properties({"log4j2.configurationFile": folder / "log4j2.properties"})
