"""Go's libraries, by the go command, each program built once."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from harness.clients.toolchains.package_client import copy_sources, looking_for, said
from harness.clients.toolchains.program import PROGRAMS, Program

ENVIRONMENT = {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
"""A static program, of these sources alone; flags are given on the command line."""
LOCKS = ("go.mod", "go.sum")


class Go:
    """Fills :class:`harness.clients.toolchains.program.Toolchain` with the ``go`` of the PATH."""

    language = "Go"

    def missing(self) -> str | None:
        remedy = "install Go (Debian: apt install golang; macOS: brew install go)"
        return None if shutil.which("go") else f"go is not on the PATH: {remedy}"

    def resolve(self, program: Program, wanted: str) -> str:
        """By a version query: ``v1.22`` is the newest v1.22.x (go help module-queries: "version prefix")."""
        if wanted == program.version:
            return wanted
        asked = ("go", "list", "-m", "-f", "{{.Version}}", f"{program.package}@v{wanted}")
        doing = f"find {program.library} {wanted}"
        with looking_for(program, wanted):
            found = said(asked, doing=doing, cwd=PROGRAMS / program.source, env=ENVIRONMENT)
        return found.strip().removeprefix("v")

    def install(self, program: Program, version: str, folder: Path) -> None:
        """Another version than ours chooses its own dependencies: those of our lock may be newer than it knows."""
        copy_sources(program, folder)
        doing = f"build {program.library} {version}"
        locked = version == program.version
        if not locked:
            for name in LOCKS:
                (folder / name).unlink()
            said(("go", "mod", "init", f"fencepost/{program.library}"), doing=doing, cwd=folder, env=ENVIRONMENT)
            said(("go", "get", f"{program.package}@v{version}"), doing=doing, cwd=folder, env=ENVIRONMENT)
        may_change = "-mod=readonly" if locked else "-mod=mod"
        build = ("go", "build", may_change, "-buildvcs=false", "-trimpath", "-o", program.library, ".")
        said(build, doing=doing, cwd=folder, env=ENVIRONMENT)

    def command(self, program: Program, folder: Path) -> Sequence[str]:
        return [str(folder / program.library)]


GO_TOOLCHAIN = Go()
