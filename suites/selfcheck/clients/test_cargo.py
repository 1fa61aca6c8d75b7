"""Cargo as a toolchain: what it is asked, and what is made of its answers; a program in its place answers."""

from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.clients.toolchains.cargo import CARGO_TOOLCHAIN, TOOLS
from harness.clients.toolchains.shipped import SHIPPED
from suites.selfcheck.fixtures.user_errors import raises_user_error

RUST_RDKAFKA = SHIPPED["rust-rdkafka"]

BUILDS = """
case "$1" in
update) sed 's/^version = "0.39.0"/version = "0.36.2"/' Cargo.lock > changed; mv changed Cargo.lock;;
build) mkdir -p target/release; echo "$@" > target/release/adapter;;
esac
"""
KNOWS_NO_SUCH_VERSION = "echo 'error: failed to select a version' >&2; exit 101"


def put_on_path(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    """Programs of these names, before all others."""
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def installed(folder: Path, version: str) -> str:
    """The words of the build, which the program in Cargo's place leaves as the binary."""
    folder.mkdir()
    CARGO_TOOLCHAIN.install(RUST_RDKAFKA, version, folder)
    (binary,) = CARGO_TOOLCHAIN.command(RUST_RDKAFKA, folder)
    assert not (folder / "target").exists()
    return Path(binary).read_text()


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = CARGO_TOOLCHAIN.missing()
    assert missing is not None
    assert all(tool in missing for tool in TOOLS)
    assert "install Rust 1.85 or newer" in missing


def test_our_own_version_is_known_without_cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert CARGO_TOOLCHAIN.resolve(RUST_RDKAFKA, RUST_RDKAFKA.version) == RUST_RDKAFKA.version


def test_a_part_of_a_version_is_what_cargo_locks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asks = f"""grep -q '^rdkafka = {{ version = "=0.36"' Cargo.toml && {{ {BUILDS} }}"""
    put_on_path(tmp_path, monkeypatch, cargo=asks)
    assert CARGO_TOOLCHAIN.resolve(RUST_RDKAFKA, "0.36") == "0.36.2"


def test_a_version_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_path(tmp_path, monkeypatch, cargo=KNOWS_NO_SUCH_VERSION)
    with raises_user_error(ExitCode.TARGET_UNKNOWN, "there is no rust-rdkafka 9.9"):
        CARGO_TOOLCHAIN.resolve(RUST_RDKAFKA, "9.9")


@pytest.mark.parametrize(
    ("version", "locked"), [(RUST_RDKAFKA.version, True), ("0.36.2", False)], ids=["ours", "another"]
)
def test_our_own_version_is_built_as_it_is_locked(
    version: str, locked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_path(tmp_path, monkeypatch, cargo=BUILDS)
    words = installed(tmp_path / "built", version).split()
    assert words[:2] == ["build", "--release"]
    assert ("--locked" in words) is locked
    assert f'"={version}"' in (tmp_path / "built" / "Cargo.toml").read_text()


@pytest.mark.parametrize("there", [True, False])
def test_tls_is_built_in_where_openssl_is_there(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_path(tmp_path, monkeypatch, cargo=BUILDS, **{"pkg-config": f"exit {0 if there else 1}"})
    assert ("tls" in installed(tmp_path / "built", RUST_RDKAFKA.version).split()) is there


def test_the_manifest_asks_for_the_version_that_ships() -> None:
    """Else another version would be asked for by replacing what is not there."""
    manifest = next(file for file in RUST_RDKAFKA.files if file.name == "Cargo.toml")
    assert f'{RUST_RDKAFKA.package} = {{ version = "={RUST_RDKAFKA.version}"' in manifest.read_text()
