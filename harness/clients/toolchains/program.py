"""What an adapter that ships is, and the port of a language's package client that installs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.base.paths import ROOT

PROGRAMS = ROOT / "harness" / "clients" / "programs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An adapter's source, and the library that it drives.

    :param library: What users call it: ``franz-go``.
    :param package: The name by which the package client knows the library.
    :param version: The one that is installed where the user names none; the lock file beside the source pins it, and
        all that it needs.
    :param source: Folder of the source and the lock file, below :data:`PROGRAMS`.
    :param remedy: What its installation needs beyond the toolchain, told where it fails; empty for nothing.
    :param shared: Folder with sources that programs of one language share, below :data:`PROGRAMS`; empty for none.
    """

    library: str
    toolchain: "Toolchain"
    package: str
    version: str
    source: str
    shared: str = ""
    remedy: str = ""

    @property
    def files(self) -> Sequence[Path]:
        """All of its files, in a fixed order: an installation is made again when one of them changes."""
        folders = [PROGRAMS / name for name in (self.source, self.shared) if name]
        return sorted(file for folder in folders for file in folder.iterdir() if file.is_file())


class Toolchain(Protocol):
    """A language's compiler or interpreter and its package client; registries are those that the client is set to."""

    @property
    def language(self) -> str:
        """As it is called: ``Go``."""

    def missing(self) -> str | None:
        """What is not on this machine and how to get it, as a sentence; None when programs can be installed."""

    def resolve(self, program: Program, wanted: str) -> str:
        """The exact version of the library that ``wanted`` means: ``1.22`` is the newest that begins so.

        :raises UserError: TARGET_UNKNOWN, when the registry has none; TOOL_MISSING.
        """

    def install(self, program: Program, version: str, folder: Path) -> None:
        """Fill an empty folder with all that running the program needs, which may be moved afterwards.

        The program's own version comes from its lock file; for another one the package client makes a lock file in
        the folder.

        :raises UserError: with the package client's own words.
        """

    def command(self, program: Program, folder: Path) -> Sequence[str]:
        """What starts it, once installed in ``folder``."""
