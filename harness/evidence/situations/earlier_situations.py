"""What earlier sessions of chaos visited, for one that goes on where they ended; kept in its folder."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.evidence.json_codec import from_json_file, to_json
from harness.evidence.situations.kept_situations import read_situations
from harness.evidence.situations.situation import Situation

VISITED_BEFORE = "visited_before.json"
VISITED = "visited.json"
"""The one file of a session that the next one needs, whatever becomes of the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierSituations:
    """Of those of their rounds that recorded it.

    :param rounds: How many these are.
    :param wanted: What they could show by their faults.
    """

    rounds: int
    wanted: tuple[Situation, ...]
    visited: tuple[Situation, ...]


def earlier_situations(folders: Iterable[Path]) -> EarlierSituations:
    """What the rounds in these folders visited; :raises Malformed: when one cannot be read."""
    read = [found for folder in folders if (found := read_situations(folder)) is not None]
    return EarlierSituations(
        rounds=len(read),
        wanted=tuple(sorted({each for round_ in read for each in round_.wanted})),
        visited=tuple(sorted({each.situation for round_ in read for each in round_.visits})),
    )


def together(first: EarlierSituations, then: EarlierSituations) -> EarlierSituations:
    """Of all their rounds; pure."""
    return EarlierSituations(
        rounds=first.rounds + then.rounds,
        wanted=tuple(sorted({*first.wanted, *then.wanted})),
        visited=tuple(sorted({*first.visited, *then.visited})),
    )


def keep_visited(folder: Path, before: EarlierSituations | None, rounds: Iterable[Path]) -> None:
    """Write :data:`VISITED` into the folder of a session with these rounds, those before it included."""
    own = earlier_situations(rounds)
    write_atomically(folder / VISITED, to_json(own if before is None else together(before, own)))


def read_visited(file: Path) -> EarlierSituations | None:
    """What a :data:`VISITED` tells; None where there is no such file. :raises Malformed: when it cannot be read."""
    return from_json_file(EarlierSituations, file)


def keep_earlier(folder: Path, earlier: EarlierSituations) -> None:
    """Write the file into a session's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / VISITED_BEFORE, to_json(earlier))


def read_earlier(folder: Path) -> EarlierSituations | None:
    """What the session came after; None where it was after none. :raises Malformed: when the file cannot be read."""
    return from_json_file(EarlierSituations, folder / VISITED_BEFORE)
