"""What pytest sees of a scenario file: a live item for each round that the budget may reach."""

import sys
from collections.abc import Iterator

import pytest

from harness.app.chaos.chaos_session import ChaosSession
from harness.app.judging_item import JudgingItem, NotGreen
from harness.chaos.plan.chaos_round import Round
from harness.chaos.play.casting import ClientsNotOffered, ScenarioOutOfReach
from harness.evidence.history.judgement import Judgement
from harness.evidence.status import Status
from harness.report.chaos import not_offered_line, round_line
from harness.report.shared.allure import label_round
from harness.report.shared.junit import chaos_properties


class ScenarioFile(pytest.File):
    """A file that binds ``SCENARIO``; its rounds are those of the session that play it."""

    def __init__(self, *, session_: ChaosSession, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.session_ = session_

    def collect(self) -> Iterator[pytest.Item]:
        for round_ in self.session_.rounds:
            if round_.scenario.name == self.path.stem.replace("_", "-"):
                name = f"chaos[{round_.folder.name}]"
                yield ChaosItem.from_parent(self, name=name, session_=self.session_, round_=round_)


class ChaosItem(JudgingItem):
    """Live: one round of chaos."""

    def __init__(self, *, session_: ChaosSession, round_: Round, **rest: object) -> None:
        super().__init__(title=round_.scenario.name, marker="chaos", **rest)
        self.session_, self.round_ = session_, round_
        self.judgement: Judgement | None = None
        self.lacking = ""

    def runtest(self) -> None:
        """Perform the round; red unless everything that was examined holds."""
        self.round_ = self.session_.steering.chosen(self.round_)
        try:
            judgement = self.judgement = self.session_.examine(self.round_)
        except ClientsNotOffered as lack:
            self.lacking = str(lack)
            self.skip_not_offered(self.lacking)
        except ScenarioOutOfReach as beyond:
            self.skip_out_of_reach(str(beyond))
        if judgement.status is not Status.HOLDS:
            raise NotGreen(sentence(judgement, self.round_))

    def label(self) -> None:
        if self.judgement is not None:
            label_round(self.judgement, self.round_.description())

    def print_outcome(self, report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException] | None) -> None:  # noqa: ARG002
        """A line for the round, and what CI servers read of it."""
        number, of = self.session_.next_number(), self.session_.rounds_in_all
        if self.judgement is not None:
            self.user_properties.extend(chaos_properties(self.judgement, self.round_.description()))
        if self.round_ in self.session_.ended:
            round_line(sys.stdout, self.round_.folder, number=number, of=of)
        if self.lacking:
            not_offered_line(sys.stdout, self.round_.scenario.name, self.lacking, number=number, of=of)
        if report.failed and self.judgement is None:
            self.session_.options.run.progress(f"{self.round_.folder.name}: {report.longrepr}")


def sentence(judgement: Judgement, round_: Round) -> str:
    """The conclusion with its findings, and how to run the round again."""
    lines = [f"{round_.scenario.name} with seed {round_.seed.value}: {judgement.status.value}"]
    for check in judgement.checks:
        lines += [f"  {found.anomaly}: {found.detail}" for found in check.findings[:3]]
        lines += [f"  undecided, {check.name}: {check.undecided}"] if check.undecided else []
    lines += [f"  not exercised: {judgement.lacking}"] if judgement.lacking else []
    return "\n".join([*lines, f"  again: {round_.command}"])
