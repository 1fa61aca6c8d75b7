"""Two explorations of the same cells and walks, on two targets: where they differ, shortest path first.

Both were compared with one model, so that cells which agree with it on both are alike. A cell that was not reached on
one of them is told by itself: nothing is known of it there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.report.model.coverage import NOT_REACHED, CellLine


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDifference:
    """A cell or a walk that two targets answer, or keep, otherwise.

    :param steps: Of a walk, those up to where it differs.
    :param parts: What differs, as the first and as the second target shows it; as the model says where one agrees.
    """

    cell: int
    state: str
    request: str
    steps: int
    parts: tuple[tuple[str, str, str], ...]
    exchanges: Sequence[Mapping[str, object]] = ()

    @property
    def name(self) -> str:
        """What was asked, in words."""
        return f"{self.request}, in «{self.state}»" if self.state else self.request


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTargets:
    """What the comparison of two folders found.

    :param compared: Cells that both reached. :param reached_by_one: Cells that only one did.
    """

    compared: int
    reached_by_one: int
    differences: tuple[TargetDifference, ...]


def two_targets(first: Iterable[CellLine], second: Iterable[CellLine]) -> TwoTargets:
    """Compare the cells that are in both: numbers may differ where one offers less."""
    return _compared(first, second, _cell, _cell_difference)


def two_walks(first: Iterable[CellLine], second: Iterable[CellLine]) -> TwoTargets:
    """Compare walks: both targets were asked the same ones by the same numbers."""
    return _compared(first, second, _number, _walk_difference)


def _cell(line: CellLine) -> tuple[str, str]:
    return line["state"], line["request"]


def _number(line: CellLine) -> int:
    return int(line["cell"])


def _compared(
    first: Iterable[CellLine],
    second: Iterable[CellLine],
    alike: Callable[[CellLine], object],
    difference: Callable[[CellLine, CellLine], TargetDifference],
) -> TwoTargets:
    left, right = ({alike(line): line for line in lines} for lines in (first, second))
    both = [cell for cell in left if cell in right]
    reached = [cell for cell in both if NOT_REACHED not in (left[cell]["outcome"], right[cell]["outcome"])]
    differing = (difference(left[cell], right[cell]) for cell in reached)
    found = sorted((each for each in differing if each.parts), key=lambda each: (each.steps, each.cell))
    return TwoTargets(compared=len(reached), reached_by_one=len(both) - len(reached), differences=tuple(found))


def _cell_difference(left: CellLine, right: CellLine) -> TargetDifference:
    return TargetDifference(
        cell=left["cell"],
        state=left["state"],
        request=left["request"],
        steps=left["steps"],
        parts=tuple(_parts(left, right)),
        exchanges=left["exchanges"] or right["exchanges"],
    )


def _walk_difference(left: CellLine, right: CellLine) -> TargetDifference:
    """Where one of them strayed from its way, nothing was asked behind that."""
    exchanges = min((each for each in (left["exchanges"], right["exchanges"]) if each), key=len, default=())
    return TargetDifference(
        cell=left["cell"],
        state="",
        request=f"walk {left['cell']}, after {len(exchanges)} steps",
        steps=len(exchanges),
        parts=tuple(_parts(left, right)),
        exchanges=exchanges,
    )


def _parts(left: CellLine, right: CellLine) -> Iterator[tuple[str, str, str]]:
    """What one shows as the model expects it is not in its differences."""
    seen = [{each["part"]: each for each in line["differences"]} for line in (left, right)]
    for part in dict.fromkeys([*seen[0], *seen[1]]):
        expected = next(found[part]["expected"] for found in seen if part in found)
        shown = tuple(found[part]["seen"] if part in found else expected for found in seen)
        if shown[0] != shown[1]:
            yield part, shown[0], shown[1]
