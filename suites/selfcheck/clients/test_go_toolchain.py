"""What the toolchain of Go asks of the go command, with a go of our own on the PATH; nothing is built."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.clients.toolchains.go import GO_TOOLCHAIN
from harness.clients.toolchains.program import PROGRAMS, Program
from harness.clients.toolchains.shipped import SHIPPED
from suites.selfcheck.fixtures.user_errors import raises_user_error

FRANZ_GO, SARAMA = SHIPPED["franz-go"], SHIPPED["sarama"]

FAKE = """#!/bin/sh
echo "$CGO_ENABLED $*" >> {log}
case "$1 $*" in
"list "*@v1.22) echo v1.22.9 ;;
"list "*) echo "no matching versions for query" >&2; exit 1 ;;
"mod "*) echo "$3" > go.mod ;;
"build "*unbuildable*) echo "# fencepost" >&2; echo "./x.go:1: undefined: kgo.New" >&2; exit 1 ;;
esac
"""
Asked = Callable[[], Sequence[str]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    """Puts a go on the PATH that writes down what it is asked; returns what it was asked."""
    log, folder = tmp_path / "asked", tmp_path / "bin"
    folder.mkdir()
    (folder / "go").write_text(FAKE.format(log=log))
    (folder / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return lambda: log.read_text().splitlines() if log.exists() else []


def test_a_missing_go_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install Go" in (GO_TOOLCHAIN.missing() or "")


def test_a_go_on_the_path_is_all_that_is_needed(asked: Asked) -> None:
    assert GO_TOOLCHAIN.missing() is None
    assert asked() == []


def test_a_short_version_is_the_newest_that_begins_so(asked: Asked) -> None:
    assert GO_TOOLCHAIN.resolve(FRANZ_GO, "1.22") == "1.22.9"
    assert asked() == ["0 list -m -f {{.Version}} github.com/twmb/franz-go@v1.22"]


def test_our_own_version_is_not_asked_for(asked: Asked) -> None:
    assert GO_TOOLCHAIN.resolve(FRANZ_GO, FRANZ_GO.version) == FRANZ_GO.version
    assert asked() == []


@pytest.mark.usefixtures("asked")
def test_a_version_that_nobody_has_is_told() -> None:
    with raises_user_error(ExitCode.TARGET_UNKNOWN, "there is no sarama 9.9"):
        GO_TOOLCHAIN.resolve(SARAMA, "9.9")


def test_our_own_version_is_built_from_its_lock(asked: Asked, tmp_path: Path) -> None:
    GO_TOOLCHAIN.install(FRANZ_GO, FRANZ_GO.version, tmp_path)
    assert asked() == ["0 build -mod=readonly -buildvcs=false -trimpath -o franz-go ."]
    assert (tmp_path / "go.sum").read_bytes() == (PROGRAMS / FRANZ_GO.source / "go.sum").read_bytes()
    assert (tmp_path / "adapter_lines.go").is_file()
    assert GO_TOOLCHAIN.command(FRANZ_GO, tmp_path) == [str(tmp_path / "franz-go")]


def test_another_version_is_built_without_our_lock(asked: Asked, tmp_path: Path) -> None:
    GO_TOOLCHAIN.install(FRANZ_GO, "1.15.3", tmp_path)
    assert asked() == [
        "0 mod init fencepost/franz-go",
        "0 get github.com/twmb/franz-go@v1.15.3",
        "0 build -mod=mod -buildvcs=false -trimpath -o franz-go .",
    ]
    assert (tmp_path / "go.mod").read_text() == "fencepost/franz-go\n"
    assert not (tmp_path / "go.sum").exists()


@pytest.mark.usefixtures("asked")
def test_what_cannot_be_built_is_told_in_the_words_of_go(tmp_path: Path) -> None:
    unbuildable = Program(library="unbuildable", toolchain=GO_TOOLCHAIN, package="p", version="1", source="go/sarama")
    with raises_user_error(ExitCode.TARGET_UNKNOWN, "undefined: kgo.New"):
        GO_TOOLCHAIN.install(unbuildable, "1", tmp_path)


@pytest.mark.parametrize("program", [FRANZ_GO, SARAMA], ids=lambda program: program.library)
def test_the_lock_has_the_version_that_the_table_names(program: Program) -> None:
    folder = PROGRAMS / program.source
    assert f"{program.package} v{program.version}\n" in (folder / "go.mod").read_text()
    assert f"{program.package} v{program.version} h1:" in (folder / "go.sum").read_text()
