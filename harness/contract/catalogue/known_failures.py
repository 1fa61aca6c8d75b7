"""What a target is known to break: data with a reason and a link, which goes stale loudly.

One file a release under ``suites/known_failing`` (``kafka-4.1.0.txt`` for ``kafka:4.1.0``), or the file that
``--known-failing`` names, of any target. A line is a requirement's id, a reason and a link, separated by ``|``; a line
that starts with ``#`` is a comment. An entry that no longer fails fails the run, and so does one that names no
requirement.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.user_error import ExitCode, UserError

SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """Why a requirement fails, and where that is followed up."""

    reason: str
    link: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.link})"


@dataclass(frozen=True, slots=True)
class KnownFailures:
    """What is known to fail, by requirement id."""

    entries: Mapping[str, KnownFailure] = field(default_factory=dict)

    @property
    def reasons(self) -> Mapping[str, str]:
        """Reason with link, by requirement id."""
        return {id_: str(entry) for id_, entry in self.entries.items()}

    def check_ids(self, catalogue: Iterable[str]) -> None:
        """:raises UserError: When an entry names no requirement of the whole catalogue."""
        if strangers := sorted(set(self.entries) - set(catalogue)):
            raise UserError(f"known failures name no requirement: {', '.join(strangers)}", exit=ExitCode.USAGE)


def list_of(folder: Path, target: str) -> Path:
    """Where our own list of ``target`` is, if there is one: ``kafka-4.1.0.txt`` for ``kafka:4.1.0``."""
    return folder / (target.replace(":", "-").replace("/", "-") + ".txt")


def read_known(path: Path) -> KnownFailures:
    """The known failures in a file.

    :raises UserError: When it cannot be read, a line has not three parts, or an id is there twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"known failures cannot be read: {path}: {error}", exit=ExitCode.USAGE) from error
    read: dict[str, KnownFailure] = {}
    for number, id_, entry in _entries(path, text):
        if id_ in read:
            raise UserError(f"{path}, line {number}: {id_} stands there twice", exit=ExitCode.USAGE)
        read[id_] = entry
    return KnownFailures(read)


def id_of(line: str) -> str | None:
    """The id of the entry in a line; None where it is empty or a comment."""
    return None if not line.strip() or line.startswith("#") else line.partition(SEPARATOR)[0].strip()


def _entries(path: Path, text: str) -> Iterator[tuple[int, str, KnownFailure]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if id_of(line) is None:
            continue
        parts = [part.strip() for part in line.split(SEPARATOR)]
        if len(parts) != 3 or not all(parts):
            raise UserError(f"{path}, line {number}: write id | reason | link", exit=ExitCode.USAGE)
        yield number, parts[0], KnownFailure(parts[1], parts[2])
