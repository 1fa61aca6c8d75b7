"""What a release is known to break: data with a reason and a link, which goes stale loudly.

One file a target under ``suites/known_failing``: ``kafka-4.1.0.txt`` for ``kafka:4.1.0``. A line is a requirement's id,
a reason and a link, separated by ``|``; a line that starts with ``#`` is a comment. An entry that no longer fails fails
the run, and so does one that names no requirement.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.user_error import ExitCode, UserError


@dataclass(frozen=True, slots=True)
class KnownFailures:
    """Reason with link by requirement id."""

    reasons: Mapping[str, str] = field(default_factory=dict)

    def check_ids(self, known: Iterable[str]) -> None:
        """:raises UserError: When an entry names no requirement."""
        if strangers := sorted(set(self.reasons) - set(known)):
            raise UserError(f"known failures name no requirement: {', '.join(strangers)}", exit=ExitCode.USAGE)


def read_known(folder: Path, target: str) -> KnownFailures:
    """The known failures of ``target`` (``kafka:4.1.0`` → ``kafka-4.1.0.txt``), none where there is no file.

    :raises UserError: When a line has not three parts.
    """
    path = folder / (target.replace(":", "-").replace("/", "-") + ".txt")
    return KnownFailures(dict(_entries(path))) if path.is_file() else KnownFailures()


def _entries(path: Path) -> Iterable[tuple[str, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or not all(parts):
            raise UserError(f"{path}, line {number}: write id | reason | link", exit=ExitCode.USAGE)
        yield parts[0], f"{parts[1]} ({parts[2]})"
