"""What pytest sees of a scenario file: a live item for each round that the budget may reach."""

from collections.abc import Iterator

import pytest

from harness.app.chaos_session import CHAOS, Crashed
from harness.chaos.plan.chaos_round import Round
from harness.chaos.play.round_context import ClientsNotOffered
from harness.evidence.judgement import Judgement
from harness.evidence.status import Status


class RoundNotGreen(Exception):
    """A round that is not green; the text is what a person reads."""


class ScenarioFile(pytest.File):
    """A file that binds ``SCENARIO``; its rounds are those of the session that play it."""

    def collect(self) -> Iterator[pytest.Item]:
        """An item a round."""
        for round_ in self.config.stash[CHAOS].rounds():
            if round_.scenario.name == self.path.stem.replace("_", "-"):
                yield ChaosItem.from_parent(self, name=f"chaos[{round_.folder.name}]", round_=round_)


class ChaosItem(pytest.Item):
    """Live: one round of chaos."""

    def __init__(self, *, round_: Round, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.round_ = round_
        self.judgement: Judgement | None = None
        self.lacking = ""
        self.add_marker("chaos")

    def runtest(self) -> None:
        """Perform the round; red unless everything that was examined holds."""
        try:
            judgement = self.judgement = self.config.stash[CHAOS].examine(self.round_)
        except ClientsNotOffered as lack:
            self.lacking = str(lack)
            pytest.skip(f"NOT_OFFERED: {lack}")
        if judgement.status is not Status.HOLDS:
            raise RoundNotGreen(sentence(judgement, self.round_))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # noqa: ARG002
        """A verdict reads as a sentence, and so does a crash; anything else keeps its traceback."""
        return (
            str(excinfo.value)
            if excinfo.errisinstance((RoundNotGreen, Crashed))
            else str(super().repr_failure(excinfo))
        )


def sentence(judgement: Judgement, round_: Round) -> str:
    """The conclusion with its findings, and how to run the round again."""
    lines = [f"{round_.scenario.name} with seed {round_.seed.value}: {judgement.status.value}"]
    for check in judgement.checks:
        lines += [f"  {found.anomaly}: {found.detail}" for found in check.findings[:3]]
        lines += [f"  undecided, {check.name}: {check.undecided}"] if check.undecided else []
    return "\n".join([*lines, f"  again: {round_.again}"])
