"""Java's libraries, by Maven: jars in a folder of their own, and the program compiled against them by ``javac``.

Maven has no lock file: :data:`LOCK` beside the source holds the checksum of each jar, and is compared after Maven has
brought them in. For another version it is written in the installation; that file is the lock of a new default.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.clients.toolchains.jvm_archive import archived
from harness.clients.toolchains.package_client import copy_sources, missing_tools, said, unknown_version
from harness.clients.toolchains.program import Program
from harness.machine import maven, toolchain

LOCK = "jars.sha256"
"""As ``sha256sum`` writes it."""
JAR = "adapter.jar"
POM = "pom.xml"
"""Names the library with the version ``${library.version}``, and what else the program needs."""
ENOUGH = 99_999
"""More than any part of a version."""

QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx256m")
"""A program runs for seconds, beside others on the same cores."""


class Maven:
    """Fills :class:`harness.clients.toolchains.program.Toolchain` with a JDK and Maven."""

    language = "Java"

    def missing(self) -> str | None:
        """A Java runtime alone has no compiler, and cannot run a program from its source either."""
        if absent := missing_tools("java", "javac", "mvn"):
            return absent
        try:
            toolchain.java()
        except UserError as old:
            return str(old)
        return None

    def resolve(self, program: Program, wanted: str) -> str:
        """By bringing in the newest jar of a range, whose name has the version; three numbers are a version already."""
        if re.fullmatch(r"\d+\.\d+\.\d+[\w.-]*", wanted):
            return wanted
        if not re.fullmatch(r"\d+(\.\d+)?", wanted):
            raise unknown_version(program, wanted)
        group, _, name = program.package.partition(":")
        newest = maven.Artifact(group=group, name=name, version=f"[{wanted},{wanted}.{ENOUGH}]")
        with tempfile.TemporaryDirectory() as folder:
            try:
                maven.copy_jars([newest], Path(folder), transitive=False)
            except UserError as error:
                if "No versions available" in str(error):
                    raise unknown_version(program, wanted) from error
                raise
            return next(Path(folder).glob("*.jar")).stem.removeprefix(f"{name}-")

    def install(self, program: Program, version: str, folder: Path) -> None:
        copy_sources(program, folder)
        jars = folder / "jars"
        jars.mkdir()
        maven.copy_dependencies(
            folder / POM, jars, f"-Dlibrary.version={version}", wanted=f"{program.package}:{version}"
        )
        if version == program.version:
            _require_locked(program, folder)
        else:
            (folder / LOCK).write_text(lock_of(jars))
        sources = sorted(map(str, folder.glob("*.java")))
        into = ["-d", str(folder / "classes"), "-classpath", str(jars / "*"), "-encoding", "UTF-8"]
        said(
            ["javac", "-nowarn", "--release", str(toolchain.OLDEST_JAVA), *into, *sources],
            doing=f"compile the program of {program.library} {version}",
        )
        shutil.make_archive(str(folder / "adapter"), "zip", folder / "classes")
        (folder / "adapter.zip").rename(folder / JAR)

    def command(self, program: Program, folder: Path) -> Sequence[str]:
        """Every jar by its name: an archive of classes knows a class path of jars alone."""
        class_path = os.pathsep.join(map(str, (folder / JAR, *sorted(folder.glob("jars/*.jar")))))
        start = [*QUICK_START, "-classpath", class_path, f"{program.library.capitalize()}Adapter"]
        java = toolchain.java()
        return ["java", *archived(java.program, java.build, folder, start), *start]


def lock_of(jars: Path) -> str:
    """The lock file of a folder of jars: a line for each, with its checksum and its name."""
    checksums = ((hashlib.sha256(jar.read_bytes()).hexdigest(), jar.name) for jar in sorted(jars.glob("*.jar")))
    return "".join(f"{checksum}  {name}\n" for checksum, name in checksums)


def _require_locked(program: Program, folder: Path) -> None:
    locked, found = _read(folder / LOCK), _parsed(lock_of(folder / "jars"))
    if locked != found:
        other = sorted(name for name in locked.keys() | found.keys() if locked.get(name) != found.get(name))
        raise UserError(
            f"Maven brought in other jars for {program.library} {program.version} than are locked: {', '.join(other)}",
            exit=ExitCode.TARGET_UNKNOWN,
        )


def _read(lock: Path) -> Mapping[str, str]:
    return _parsed(lock.read_text())


def _parsed(lock: str) -> Mapping[str, str]:
    return {name: checksum for checksum, name in (line.split() for line in lock.splitlines())}


MAVEN_TOOLCHAIN = Maven()
