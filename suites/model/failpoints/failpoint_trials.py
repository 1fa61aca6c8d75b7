"""Rules are loaded into running brokers, cells of the grid are asked, and the rules are taken out again."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from harness.base.paths import EXPLAINED
from harness.cluster.cluster import BreakCode
from harness.explore.cell_exploration import Exploration
from harness.explore.cell_results import CellOutcome, CellResult
from harness.explore.explained import ExplainedDifference, read_explanations
from harness.explore.findings import Findings
from harness.model.protocol_profile import ProtocolProfile
from harness.report.model.coverage import cell_lines
from suites.model.failpoints.known_failpoints import KnownFailpoint
from suites.model.failpoints.sampled_cells import Numbered, rounds_of_cells
from suites.model.failpoints.tried_failpoints import FailpointOutcome, TriedFailpoint, tried

CONTROL = 60
"""Cells that are asked of the sound cluster after rules that broke something, before the next ones are loaded."""


@dataclass(slots=True, kw_only=True)
class FailpointTrials:
    """On one cluster, while it is sound without rules.

    :param asked: Numbers of the folders of results.
    """

    exploration: Exploration
    profile: ProtocolProfile
    rounds: Sequence[Sequence[Numbered]]
    explanations: Sequence[ExplainedDifference]
    asked: "count[int]" = field(default_factory=lambda: count(1))

    def tried(self, failpoint: KnownFailpoint) -> TriedFailpoint:
        """Round by round, until a cell differs from the unaltered model; it is asked again without the rules."""
        started = time.monotonic()
        line, differing = self._under_rules(failpoint)
        if line.outcome is FailpointOutcome.CAUGHT:
            line = self._with_control(line, differing)
        if line.outcome is FailpointOutcome.NOT_CAUGHT and not line.entered:
            line = replace(line, outcome=FailpointOutcome.NOT_ENTERED)
        return replace(line, seconds=round(time.monotonic() - started, 1))

    def _under_rules(self, failpoint: KnownFailpoint) -> tuple[TriedFailpoint, Sequence[CellResult]]:
        """With the results that differ."""
        brokers, line = self._brokers, tried(failpoint, FailpointOutcome.NOT_CAUGHT)
        differing: Sequence[CellResult] = ()
        try:
            brokers.load_rules(failpoint.rules)
            try:
                line, differing = self._rounds(line)
                line = replace(line, entered=tuple(sorted(brokers.entered_rules())))
            finally:
                brokers.unload_rules()
        except RuntimeError as failed:
            line = replace(line, outcome=FailpointOutcome.FAILED, why=str(failed))
        return line, differing

    def _with_control(self, line: TriedFailpoint, differing: Sequence[CellResult]) -> TriedFailpoint:
        """Only what agrees without the rules counts, the first of it as what is told."""
        numbers = {each.cell for each in differing}
        found, _ = self._asked([each for cells in self.rounds for each in cells if each[0] in numbers])
        agreeing = {each["cell"] for each in cell_lines(found.folder) if each["outcome"] == CellOutcome.AGREES}
        by_rules = [each for each in differing if each.cell in agreeing]
        if by_rules:
            return _told(line, by_rules)
        return replace(_told(line, differing), outcome=FailpointOutcome.LASTS)

    def sound(self) -> bool:
        """Whether the cluster does as the model says, now that no rule is loaded."""
        found, lost = self._asked(self.rounds[0][:CONTROL])
        return lost is None and not found.unexplained()

    def _rounds(self, line: TriedFailpoint) -> tuple[TriedFailpoint, Sequence[CellResult]]:
        for cells in self.rounds:
            found, lost = self._asked(cells)
            line = replace(line, cells=line.cells + found.compared)
            if differing := found.unexplained():
                return replace(line, outcome=FailpointOutcome.CAUGHT), differing
            if lost is not None:
                return replace(line, outcome=FailpointOutcome.LOST, why=lost), ()
        return line, ()

    def _asked(self, cells: Sequence[Numbered]) -> tuple[Findings, str | None]:
        folder = self.exploration.folder.path / f"{next(self.asked)}"
        folder.mkdir()
        found = Findings(folder=folder, explanations=self.explanations)
        return found, self.exploration.explore(cells, self.profile, found)

    @property
    def _brokers(self) -> BreakCode:
        assert isinstance(self.exploration.cluster, BreakCode), "the cluster was started to be broken"
        return self.exploration.cluster


def _told(line: TriedFailpoint, differing: Sequence[CellResult]) -> TriedFailpoint:
    first = differing[0]
    return replace(
        line,
        differing=len(differing),
        request=first.request,
        state=first.state,
        differences=first.differences,
    )


def trials_on(exploration: Exploration) -> FailpointTrials:
    """By what the brokers of this cluster advertise."""
    profile = exploration.profile()
    return FailpointTrials(
        exploration=exploration,
        profile=profile,
        rounds=rounds_of_cells(profile, exploration.offer.apis),
        explanations=read_explanations(EXPLAINED, profile),
    )
