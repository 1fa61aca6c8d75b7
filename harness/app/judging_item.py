"""The base of our pytest items, and what the plugin asks of a session: close it, and print its end."""

from pathlib import Path
from typing import NoReturn, Protocol, TextIO

import pytest


class NotGreen(Exception):
    """A verdict that is not green, or a failure of ours that is one sentence; the text is what a person reads."""


class JudgingSession(Protocol):
    """What lasts for a pytest session: clusters, folders, verdicts."""

    def close(self) -> None:
        """End every cluster and write every report; may raise UserError."""

    def print_end(self, stream: TextIO, tests: pytest.Session) -> None:
        """The verdicts together, and where the report is."""


class JudgingItem(pytest.Item):
    """An item whose outcome is a verdict."""

    def __init__(self, *, title: str, marker: str, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.title = title
        self.add_marker(marker)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.title} {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # noqa: ARG002
        """A verdict reads as a sentence; anything else keeps its traceback."""
        return str(excinfo.value) if excinfo.errisinstance(NotGreen) else str(super().repr_failure(excinfo))

    def skip_not_offered(self, lack: str) -> NoReturn:
        """End as skipped: the target does not advertise what the item needs."""
        pytest.skip(f"NOT_OFFERED: {lack}")

    def skip_out_of_reach(self, lack: str) -> NoReturn:
        """End as skipped: nobody may, or can from here, bring the situation about on this target."""
        pytest.skip(f"OUT_OF_REACH: {lack}")

    def fail_as_expected(self, reason: str) -> NoReturn:
        """End as an expected failure: a known one, or of a promise that is no MUST."""
        pytest.xfail(reason)

    def label(self) -> None:
        """Give Allure's reader the verdict; called inside the running item."""

    def print_outcome(self, report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException] | None) -> None:
        """Print the item's line and give JUnit's reader the verdict; called after the item has run."""
