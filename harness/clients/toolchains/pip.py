"""Python's libraries, by pip, each in a virtual environment of its own."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.clients.toolchains.package_client import copy_sources, looking_for, said
from harness.clients.toolchains.program import Program

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
LOCK = "requirements.lock"


class Pip:
    """Fills :class:`harness.clients.toolchains.program.Toolchain` with the Python that runs Fencepost."""

    language = "Python"

    def missing(self) -> str | None:
        return None

    def resolve(self, program: Program, wanted: str) -> str:
        """By a dry run of the installation, which names what it would install."""
        if wanted == program.version:
            return wanted
        asked = f"{program.package}=={wanted}" if wanted.count(".") > 1 else f"{program.package}=={wanted}.*"
        dry = ("install", "--dry-run", "--quiet", "--ignore-installed", "--no-deps", "--report", "-", asked)
        with looking_for(program, wanted):
            report = json.loads(said([*PIP, *dry], doing=f"find {program.library} {wanted}"))
        return str(report["install"][0]["metadata"]["version"])

    def install(self, program: Program, version: str, folder: Path) -> None:
        copy_sources(program, folder)
        doing = f"install {program.library} {version}"
        said([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], doing=doing)
        into = [*PIP, "--python", str(_python(folder)), "install", "--quiet"]
        locked = ["--require-hashes", "-r", str(folder / LOCK)]
        said([*into, *(locked if version == program.version else [f"{program.package}=={version}"])], doing=doing)
        if version != program.version:
            frozen = said([*PIP, "--python", str(_python(folder)), "freeze"], doing=f"lock {program.library}")
            (folder / LOCK).write_text(frozen)

    def command(self, program: Program, folder: Path) -> Sequence[str]:
        return [str(_python(folder)), str(folder / f"{Path(program.source).name}_program.py")]


def _python(folder: Path) -> Path:
    return folder / "venv" / "bin" / "python"


PIP_TOOLCHAIN = Pip()
