"""Jars by Maven: one ``mvn dependency:copy-dependencies`` for each set of artifacts.

Registries and mirrors are those of the user's ``settings.xml``; none is named here.
"""

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from harness.base.user_error import ExitCode, UserError
from harness.machine import download_cache, toolchain

COPY = "org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    group: str
    name: str
    version: str
    classifier: str | None = None

    def __str__(self) -> str:
        return ":".join(filter(None, (self.group, self.name, self.version, self.classifier)))


def copy_jars(artifacts: Iterable[Artifact], folder: Path, *, transitive: bool = True) -> None:
    """Copy the artifacts' jars into ``folder``.

    :raises UserError: TOOL_MISSING without Maven; TARGET_UNKNOWN when an artifact cannot be resolved.
    """
    wanted = tuple(artifacts)
    pom = folder / "pom.xml"
    pom.write_text(_pom(wanted))
    copy_dependencies(
        pom, folder, f"-DexcludeTransitive={str(not transitive).lower()}", wanted=", ".join(map(str, wanted))
    )
    pom.unlink()


def copy_dependencies(pom: Path, folder: Path, *options: str, wanted: str) -> None:
    """Copy the jars that a project depends on into ``folder``.

    :param pom: Of the project.
    :param options: Of Maven, beside ours.
    :param wanted: The artifacts that the user asked for, as an error names them.
    :raises UserError: as :func:`copy_jars`.
    """
    mvn = toolchain.tool("mvn", needed_for="to bring in Kafka's jars")
    # -U: an artifact that was missing yesterday may be there today; Maven remembers that it was not.
    goal = [COPY, f"-DoutputDirectory={folder}", *options]
    ran = subprocess.run(
        [mvn, "-q", "-B", "-U", "-Dstyle.color=never", "-f", pom, *goal],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    if ran.returncode:
        raise _unresolved(wanted, ran.stdout + ran.stderr)


def _unresolved(wanted: str, output: str) -> UserError:
    if "No space left on device" in output:
        return download_cache.disk_full_error(" while Maven was bringing jars in")
    if absent := re.search(r"(?:Could not find artifact )?(\S+:jar:\S+?) (?:was not found )?in ", output):
        sentence = f"Maven knows no {absent[1].replace(':jar:', ':')}; check the version"
    else:
        error = next((line for line in output.splitlines() if "ERROR" in line), output.strip().partition("\n")[0])
        sentence = f"Maven cannot bring in {wanted}; check the network ({error})"
    return UserError(sentence, exit=ExitCode.TARGET_UNKNOWN)


def _pom(artifacts: Iterable[Artifact]) -> str:
    dependencies = "".join(map(_dependency, artifacts))
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>fencepost</groupId><artifactId>jars</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


def _dependency(artifact: Artifact) -> str:
    parts = {"groupId": artifact.group, "artifactId": artifact.name, "version": artifact.version}
    if artifact.classifier:
        parts["classifier"] = artifact.classifier
    fields = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in parts.items())
    return f"<dependency>{fields}</dependency>"
