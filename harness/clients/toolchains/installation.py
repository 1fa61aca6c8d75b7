"""Programs installed once in the cache: by library, version and source."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.base.user_error import UserError
from harness.clients.toolchains.program import Program
from harness.machine.download_cache import cache_root, create_once, fingerprint


def installed(program: Program, version: str, progress: Callable[[str], None]) -> Sequence[str]:
    """The command that starts the program with this exact version of its library; installed where it is missing.

    :raises UserError: as the toolchain's ``install``.
    """
    how = Path(inspect.getfile(type(program.toolchain)))  # what it does to install is a part of what comes out
    source = fingerprint(file.read_text() for file in (*program.files, how))
    entry = cache_root() / "clients" / f"{program.library}-{version}-{source}"
    if not entry.is_dir():
        progress(f"installing {program.library} {version} ({program.toolchain.language}; once)")
    folder = create_once(entry, lambda draft: _install(program, version, draft))
    return program.toolchain.command(program, folder)


def _install(program: Program, version: str, draft: Path) -> None:
    try:
        program.toolchain.install(program, version, draft)
    except UserError as error:
        if not program.remedy:
            raise
        raise UserError(f"{error}; {program.remedy}", exit=error.exit) from error
