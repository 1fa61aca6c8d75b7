"""Clients that err on purpose: another adapter with a program before it that tells one lie (``programs/liars``)."""

import sys

from harness.clients.stdio.adapter_name import AdapterCommand
from harness.clients.toolchains.program import PROGRAMS

LIARS = PROGRAMS / "liars"
LIES: tuple[str, ...] = tuple(sorted(file.stem.replace("_", "-") for file in (LIARS / "lies").glob("*.py")))
"""The lies there are; each is described by its file."""


def lying(command: AdapterCommand, lie: str) -> AdapterCommand:
    """The same client, but for one of :data:`LIES`."""
    if lie not in LIES:
        raise ValueError(f"there is no lie {lie!r}: {', '.join(LIES)}")
    return AdapterCommand(
        name=f"{command.name} ({lie})", command=[sys.executable, str(LIARS / "liar.py"), lie, *command.command]
    )
