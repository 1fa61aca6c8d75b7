"""A pytest session's chaos: its rounds in order, on one ground, until the budget is used up."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.chaos.catalogue import chosen, find_scenarios
from harness.chaos.ground import Ground, Wanted
from harness.chaos.round import Round
from harness.chaos.run import perform
from harness.chaos.scenario import Scenario
from harness.chaos.wish import ChaosWish
from harness.history.judgement import Judgement
from harness.report.chaos import publish_session
from harness.seed import Seed

SCENARIOS = Path(__file__).resolve().parents[2] / "suites" / "chaos" / "scenarios"


@dataclass(slots=True, kw_only=True)
class ChaosSession:
    """The rounds of one session.

    :param judged: Each round that was judged, with its folder.
    """

    wish: ChaosWish
    progress: Callable[[str], None]
    judged: list[tuple[Round, Judgement]] = field(default_factory=list)
    page: Path | None = None
    started: float = field(default_factory=time.monotonic)
    _ground: Ground | None = None

    def rounds(self) -> Sequence[Round]:
        """Every round that the budget may reach, in order."""
        scenarios = chosen(self.wish.scenarios, find_scenarios(SCENARIOS))
        lengths = [self.wish.length(scenario, len(scenarios)) for scenario in scenarios]
        turns = [pair for _ in range(self.wish.passes(lengths)) for pair in zip(scenarios, lengths, strict=True)]
        numbered = zip(turns, self.wish.seeds(), strict=False)
        return [self._round(number, *turn, seed) for number, (turn, seed) in enumerate(numbered, start=1)]

    def reaches(self, round_: Round) -> bool:
        """Whether the budget still reaches for a round; it always does for the first."""
        if self.wish.budget is None or not self.judged:
            return True
        return time.monotonic() - self.started + round_.seconds < self.wish.budget

    def examine(self, round_: Round) -> Judgement:
        """Perform one round."""
        if self._ground is None:
            self._ground = Ground(wanted=self._wanted())
        judgement = perform(self._ground, round_)
        self.judged.append((round_, judgement))
        return judgement

    def close(self) -> None:
        """End the ground and write the session's page."""
        ground, self._ground = self._ground, None
        if ground is not None:
            ground.close()
        if self.judged:
            self.page = publish_session(self.wish.folder, self.folders)

    @property
    def folders(self) -> list[Path]:
        """Of the rounds that were judged."""
        return [round_.folder for round_, _ in self.judged]

    def _round(self, number: int, scenario: Scenario, seconds: float, seed: Seed) -> Round:
        return Round(
            target=self.wish.target,
            scenario=scenario,
            seed=seed,
            seconds=seconds,
            folder=self.wish.folder / f"{number:03d}-{scenario.name}",
            again=self.wish.again(scenario, seed, seconds),
        )

    def _wanted(self) -> Wanted:
        wish = self.wish
        return Wanted(
            target=wish.target,
            folder=wish.folder,
            backend=wish.backend,
            options=wish.options,
            spark_master=wish.spark_master,
            progress=self.progress,
        )


CHAOS = pytest.StashKey[ChaosSession]()
