"""How users name a client: ``franz-go:1.22``, ``librdkafka``, or a program of their own, ``./my-adapter``."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.clients.toolchains.installation import installed
from harness.clients.toolchains.program import Program
from harness.clients.toolchains.shipped import SHIPPED


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterCommand:
    """A client that can be started.

    :param name: For people: the library with its exact version, or the program as it was given.
    :param command: What starts it.
    :param looks_up_positions: Whether members of groups ask for their positions themselves, as ``open`` may wish.
    """

    name: str
    command: Sequence[str]
    looks_up_positions: bool = False


def adapter_command(given: str, progress: Callable[[str], None]) -> AdapterCommand:
    """The client of this name; one that ships is installed where it is missing.

    :raises UserError: USAGE for a name that is neither; TOOL_MISSING and TARGET_UNKNOWN as its toolchain says.
    """
    if given.startswith(("/", "./", "../", "~")):
        return AdapterCommand(name=given, command=[str(_executable(given))])
    library, _, version = given.partition(":")
    program = SHIPPED.get(library)
    if program is None:
        known = ", ".join(SHIPPED)
        raise UserError(
            f"there is no client {given!r}: give one of {known}, with a version behind it (librdkafka:2.16), "
            "or the path of a program (./my-adapter)",
            exit=ExitCode.USAGE,
        )
    return _shipped(program, version, progress)


def _shipped(program: Program, wanted: str, progress: Callable[[str], None]) -> AdapterCommand:
    if missing := program.toolchain.missing():
        raise UserError(f"{program.library} needs {program.toolchain.language}: {missing}", exit=ExitCode.TOOL_MISSING)
    version = program.toolchain.resolve(program, wanted) if wanted else program.version
    return AdapterCommand(name=f"{program.library}:{version}", command=installed(program, version, progress))


def _executable(given: str) -> Path:
    path = Path(given).expanduser().absolute()
    if not path.exists():
        raise UserError(f"there is no program {given}", exit=ExitCode.USAGE)
    if not path.is_file() or shutil.which(str(path)) is None:
        remedy = f"chmod +x {given}" if path.is_file() and not os.access(path, os.X_OK) else "it must be a program"
        raise UserError(f"{given} cannot be run: {remedy}", exit=ExitCode.USAGE)
    return path
