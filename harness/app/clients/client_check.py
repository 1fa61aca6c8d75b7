"""``fencepost client NAME --check``: an adapter tried against the protocol, without a broker."""

import sys

from rich.text import Text

from harness.app.options import print_progress
from harness.base.user_error import ExitCode
from harness.clients.stdio.adapter_check import check_adapter
from harness.clients.stdio.adapter_name import adapter_command
from harness.report.shared.console import STYLES, open_console


def check_client(given: str) -> ExitCode:
    """Try it and print each trial as it ends.

    :raises UserError: for a client that cannot be had.
    """
    command = adapter_command(given, print_progress)
    out, failed = open_console(sys.stdout), 0
    for trial in check_adapter(command):
        failed += bool(trial.wrong)
        out.print(Text("✗", STYLES["VIOLATED"]) if trial.wrong else Text("✓", STYLES["HOLDS"]), trial.title)
        for line in trial.wrong.splitlines():
            out.print(Text(f"    {line}"), soft_wrap=True)
    verdict = "is no adapter yet; the protocol is harness/clients/stdio/PROTOCOL.md" if failed else "is an adapter"
    out.print(Text(f"{command.name} {verdict}"), soft_wrap=True)
    return ExitCode.BROKEN if failed else ExitCode.KEPT
