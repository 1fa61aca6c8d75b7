"""How Java's client is installed by Maven and a JDK; scripts take the place of both, and no JVM is started."""

import json
import os
import re
from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.clients.toolchains.maven_toolchain import LOCK, MAVEN_TOOLCHAIN, POM, lock_of
from harness.clients.toolchains.program import Program
from harness.clients.toolchains.shipped import SHIPPED
from suites.selfcheck.fixtures.user_errors import raises_user_error

JAVA = SHIPPED["java"]

MVN = """#!/bin/sh
for word in "$@"; do case "$word" in
  -DoutputDirectory=*) into="${word#*=}" ;;
  -Dlibrary.version=*) version="${word#*=}" ;;
  *pom.xml) pom="$word" ;;
esac; done
if grep -q '<version>\\[' "$pom"; then
  grep -q '\\[4.0,4.0.99999\\]' "$pom" || { echo '[ERROR] No versions available for it'; exit 1; }
  version=4.0.2
fi
[ "$version" != 9.9.9 ] || { echo '[ERROR] Could not find artifact a:kafka-clients:jar:9.9.9 in central'; exit 1; }
printf "jar of $version" > "$into/kafka-clients-$version.jar"
"""
JAVAC = '#!/bin/sh\nwhile [ "$1" != -d ]; do shift; done\nmkdir "$2"\n'
JAVA_17 = "#!/bin/sh\necho 'openjdk version \"17.0.15\"' >&2\n"
JAVA_11 = JAVA_17.replace("17.0.15", "11.0.2")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the PATH before the system's own, with a Maven and a JDK that bring in and compile nothing."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, script in {"mvn": MVN, "javac": JAVAC, "java": JAVA_17}.items():
        written_script(folder / name, script)
    monkeypatch.setenv("PATH", os.pathsep.join((str(folder), "/usr/bin", "/bin")))
    return folder


def written_script(file: Path, script: str) -> None:
    file.write_text(script)
    file.chmod(0o755)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """One whose lock file names the jar that this Maven brings in for its version."""
    source, jars = tmp_path / "source", tmp_path / "locked"
    source.mkdir()
    jars.mkdir()
    (jars / "kafka-clients-4.3.1.jar").write_text("jar of 4.3.1")
    (source / LOCK).write_text(lock_of(jars))
    (source / POM).write_text("<project/>")
    (source / "JavaAdapter.java").write_text("final class JavaAdapter {}")
    return Program(
        library="java", toolchain=MAVEN_TOOLCHAIN, package="a:kafka-clients", version="4.3.1", source=str(source)
    )


def installed(program: Program, version: str, tmp_path: Path) -> Path:
    folder = tmp_path / f"installed-{version}"
    folder.mkdir()
    MAVEN_TOOLCHAIN.install(program, version, folder)
    return folder


def test_a_java_runtime_without_its_compiler_is_not_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("java", "mvn"):
        written_script(tmp_path / name, JAVA_17)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert re.match("javac is not on the PATH: install a JDK", MAVEN_TOOLCHAIN.missing() or "")


def test_a_java_that_is_too_old_is_told(tools: Path) -> None:
    assert MAVEN_TOOLCHAIN.missing() is None
    written_script(tools / "java", JAVA_11)
    assert re.search("is version 11; install Java 17", MAVEN_TOOLCHAIN.missing() or "")


@pytest.mark.usefixtures("tools")
def test_the_newest_of_a_line_is_asked_of_maven(program: Program) -> None:
    assert MAVEN_TOOLCHAIN.resolve(program, "4.0") == "4.0.2"


def test_a_whole_version_needs_no_maven(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nothing")
    assert MAVEN_TOOLCHAIN.resolve(program, "3.9.2") == "3.9.2"


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("wanted", ["7", "newest", "4.3.x", "[1,2]"])
def test_what_no_release_begins_with_is_told(wanted: str, program: Program) -> None:
    with raises_user_error(ExitCode.TARGET_UNKNOWN, f"there is no java {re.escape(wanted)} "):
        MAVEN_TOOLCHAIN.resolve(program, wanted)


@pytest.mark.usefixtures("tools")
def test_a_version_that_is_nowhere_is_told_when_it_is_installed(program: Program, tmp_path: Path) -> None:
    with raises_user_error(ExitCode.TARGET_UNKNOWN, "Maven knows no a:kafka-clients:9.9.9"):
        installed(program, "9.9.9", tmp_path)


@pytest.mark.usefixtures("tools")
def test_the_own_version_is_installed_from_the_lock_file_and_can_be_started(program: Program, tmp_path: Path) -> None:
    folder = installed(program, "4.3.1", tmp_path)
    words = MAVEN_TOOLCHAIN.command(program, folder)
    assert words[0] == "java"
    assert words[-2:] == [f"{folder}/adapter.jar:{folder}/jars/kafka-clients-4.3.1.jar", "JavaAdapter"]
    assert (folder / "adapter.jar").is_file()


@pytest.mark.parametrize("writes", [True, False], ids=["one is written", "none is written"])
def test_it_starts_from_an_archive_of_classes_where_its_jvm_writes_one(
    writes: bool, program: Program, tools: Path, tmp_path: Path
) -> None:
    folder, calls = installed(program, "4.3.1", tmp_path), tmp_path / "calls"
    option = (
        'ArchiveClassesAtExit=*) cat > "${word#*=}"; cp "${word#*=}"' if writes else "ArchiveClassesAtExit=*) cat >"
    )
    for_archive = f'for word in "$@"; do case "$word" in -XX:{option} {calls} ;; esac; done\n'
    written_script(tools / "java", JAVA_17 + for_archive)
    words = MAVEN_TOOLCHAIN.command(program, folder)
    (archive,) = tmp_path.glob("installed-4.3.1-*")
    assert (f"-XX:SharedArchiveFile={archive}/classes.jsa" in words) is writes
    asked = [json.loads(line) for line in calls.read_text().splitlines()]
    assert [call["call"] for call in asked] == ["open", "init", "subscribe", "poll", "close"]
    assert asked[0]["bootstrap"] == "127.0.0.1:9"


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("lock", ["0000  kafka-clients-4.3.1.jar\n", "", "0000  more.jar\n"])
def test_other_jars_than_are_locked_are_refused(lock: str, program: Program, tmp_path: Path) -> None:
    (Path(program.source) / LOCK).write_text(lock)
    with raises_user_error(ExitCode.TARGET_UNKNOWN, r"other jars for java 4\.3\.1 .*kafka-clients-4\.3\.1\.jar"):
        installed(program, "4.3.1", tmp_path)


@pytest.mark.usefixtures("tools")
def test_another_version_is_locked_in_its_folder(program: Program, tmp_path: Path) -> None:
    folder = installed(program, "3.9.2", tmp_path)
    assert re.fullmatch(r"[0-9a-f]{64}  kafka-clients-3\.9\.2\.jar\n", (folder / LOCK).read_text())


def test_what_ships_is_locked_for_the_version_that_it_names() -> None:
    texts = {file.name: file.read_text() for file in JAVA.files}
    assert f"<library.version>{JAVA.version}</library.version>" in texts[POM]
    assert f"  kafka-clients-{JAVA.version}.jar\n" in texts[LOCK]
