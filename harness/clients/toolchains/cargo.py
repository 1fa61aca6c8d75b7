"""Rust's libraries, by Cargo; a program is built once, in release mode, and only its binary is kept."""

import shutil
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from harness.base.user_error import UserError
from harness.clients.toolchains.package_client import copy_sources, looking_for, missing_tools, said
from harness.clients.toolchains.program import Program

LOCK = "Cargo.lock"
BINARY = "adapter"
TOOLS = ("cargo", "make", "cc", "c++")
"""The last three build librdkafka, whose sources are in the package rdkafka-sys."""
TLS = ("--features", "tls")


class Cargo:
    """Fills :class:`harness.clients.toolchains.program.Toolchain`. The manifest names the library as ``=VERSION``."""

    language = "Rust"

    def missing(self) -> str | None:
        return missing_tools(*TOOLS)

    def resolve(self, program: Program, wanted: str) -> str:
        """By a lock file that Cargo makes for ``=1.22``, which means 1.22.x to it."""
        if wanted == program.version:
            return wanted
        doing = f"find {program.library} {wanted}"
        with tempfile.TemporaryDirectory(prefix="fencepost-cargo-") as temporary:
            folder = Path(temporary)
            _copy_for(program, wanted, folder)
            with looking_for(program, wanted):
                said(["cargo", "update", "--package", program.package, "--quiet"], doing=doing, cwd=folder)
            return _locked_version(program, folder)

    def install(self, program: Program, version: str, folder: Path) -> None:
        _copy_for(program, version, folder)
        build = ["cargo", "build", "--release", "--quiet", "--target-dir", str(folder / "target")]
        locked = ["--locked"] if version == program.version else []
        said([*build, *locked, *(TLS if _openssl() else ())], doing=f"build {program.library} {version}", cwd=folder)
        (folder / "target" / "release" / BINARY).rename(folder / BINARY)
        shutil.rmtree(folder / "target")

    def command(self, program: Program, folder: Path) -> Sequence[str]:  # noqa: ARG002  as the port has it
        return [str(folder / BINARY)]


def _copy_for(program: Program, version: str, folder: Path) -> None:
    """The sources, whose manifest asks for this version; the lock file goes with them, so that Cargo changes no more
    of it than the version makes necessary."""
    copy_sources(program, folder)
    manifest = folder / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace(f'"={program.version}"', f'"={version}"'))


def _locked_version(program: Program, folder: Path) -> str:
    packages = tomllib.loads((folder / LOCK).read_text())["package"]
    return str(next(package["version"] for package in packages if package["name"] == program.package))


def _openssl() -> bool:
    """Whether OpenSSL's headers are here; without them librdkafka is built without TLS and SCRAM, and says so when a
    connection asks for them."""
    try:
        said(["pkg-config", "--exists", "openssl"], doing="look for OpenSSL")
    except UserError:
        return False
    return True


CARGO_TOOLCHAIN = Cargo()
