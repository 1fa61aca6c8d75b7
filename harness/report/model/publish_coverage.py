"""Writes the page of an exploration beside its results, and that of two."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.report.model.coverage import AGREES, DIFFERS, EXPLAINED, NOT_REACHED, cell_lines, coverage
from harness.report.model.two_targets import TwoTargets
from harness.report.shared.rendering import rendered

MOST_TOLD = 200
"""Differences that the page tells; all stand in ``cells.jsonl``."""
LEGEND = {
    AGREES: "all agree with the model",
    DIFFERS: "some differ",
    EXPLAINED: "some differ, as explained",
    NOT_REACHED: "some were not reached",
}

OF_SEVERAL = {AGREES: "agree", DIFFERS: "differ", EXPLAINED: "differ as explained", NOT_REACHED: "were not reached"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSection:
    """Of the page of two targets. :param title: Its own. :param what: Was asked of both."""

    title: str
    what: str
    found: TwoTargets


def publish_comparison(
    sections: Sequence[ComparedSection], folder: Path, *, names: tuple[str, str], fencepost: str
) -> Path:
    """The page of two explorations, by the absolute path."""
    text = rendered(
        "model/comparison.html.j2",
        sections=sections,
        names=names,
        title=f"{names[0]} and {names[1]}",
        most=MOST_TOLD,
        fencepost=fencepost,
    )
    return write_atomically(folder / "compared.html", text).absolute()


def publish_coverage(folder: Path, *, target: str, fencepost: str) -> Path:
    """The absolute path of the page.

    :raises FileNotFoundError: When the folder is of no exploration.
    """
    shown = coverage(cell_lines(folder))
    text = rendered(
        "model/coverage.html.j2",
        coverage=shown,
        title=f"{shown.counts.total():,} cells on {target}",
        told=shown.told[:MOST_TOLD],
        legend=LEGEND,
        of_several=OF_SEVERAL,
        fencepost=fencepost,
    )
    return write_atomically(folder / "index.html", text).absolute()
