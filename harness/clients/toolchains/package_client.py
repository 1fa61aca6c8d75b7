"""Runs a package client or a compiler, and tells what it said where it fails."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.clients.toolchains.program import Program
from harness.machine import toolchain

LONGEST_SECONDS = 900.0
"""For one installation, downloads included."""


def missing_tools(*names: str) -> str | None:
    """A sentence about the tools that are not on the PATH; None when all are."""
    absent = [name for name in names if shutil.which(name) is None]
    remedies = "; ".join(toolchain.REMEDIES.get(name, f"install {name}") for name in absent)
    return f"{' and '.join(absent)} is not on the PATH: {remedies}" if absent else None


def last_words(ran: "subprocess.CompletedProcess[str]") -> str:
    """The last line of standard error, or of the output where there is none."""
    lines = [line.strip() for line in (ran.stderr or ran.stdout).splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def said(
    command: Sequence[str],
    *,
    doing: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    why: Callable[["subprocess.CompletedProcess[str]"], str] = last_words,
) -> str:
    """Standard output of a command that must succeed.

    :param doing: What it is for, to follow "cannot" in the error.
    :param env: Beside our own environment.
    :param why: What it said of its failure.
    :raises UserError: TOOL_MISSING where it is not there; TARGET_UNKNOWN with ``why`` where it fails.
    """
    program = toolchain.tool(command[0], needed_for=f"to {doing}")
    try:
        ran = subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            timeout=LONGEST_SECONDS,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(
            f"cannot {doing}: {command[0]} was not done in {LONGEST_SECONDS:g} s", exit=ExitCode.TOOL_MISSING
        ) from error
    if ran.returncode:
        raise UserError(f"cannot {doing}: {why(ran)}", exit=ExitCode.TARGET_UNKNOWN)
    return ran.stdout


def copy_sources(program: Program, folder: Path) -> None:
    """Put the program's own files, those that it shares and its lock file into a folder."""
    for file in program.files:
        shutil.copy(file, folder / file.name)


@contextmanager
def looking_for(program: Program, wanted: str) -> Iterator[None]:
    """A package client's failure to find the version is the error that there is none."""
    try:
        yield
    except UserError as error:
        if error.exit is not ExitCode.TARGET_UNKNOWN:
            raise
        raise unknown_version(program, wanted) from error


def unknown_version(program: Program, wanted: str) -> UserError:
    """The error where a registry has no such version."""
    sentence = f"there is no {program.library} {wanted} ({program.package}); {program.version} is ours"
    return UserError(sentence, exit=ExitCode.TARGET_UNKNOWN)
