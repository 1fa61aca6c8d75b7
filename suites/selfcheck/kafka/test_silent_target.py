"""A target that has ceased to answer is told once, with the requirement after which it did, and may come back."""

from dataclasses import dataclass
from typing import cast

import pytest

from harness.base.clock import RunClock
from harness.cluster.cluster import Cluster
from harness.evidence.requirement_evidence import UNDRAINED, Evidence
from harness.kafka.targets import silent_target
from harness.kafka.targets.silent_target import SilentTarget

CUT_SHORT = Evidence(unprepared="Metadata v13 to node 3: no connection")
UNREAD = Evidence(facts={UNDRAINED: "no connection"})


@dataclass(slots=True)
class SomeBrokers:
    """Whether some broker answers, and how often that was asked."""

    now: bool
    asked: int = 0

    def __call__(self, *_: object) -> bool:
        self.asked += 1
        return self.now


@dataclass(frozen=True, slots=True)
class SomeCluster:
    owned: bool = False


THEIRS, OURS = (cast(Cluster, SomeCluster(owned)) for owned in (False, True))


def asked_of(monkeypatch: pytest.MonkeyPatch, *, answers: bool) -> SomeBrokers:
    found = SomeBrokers(answers)
    monkeypatch.setattr(silent_target, "_answers", found)
    return found


@pytest.mark.parametrize("evidence", [CUT_SHORT, UNREAD])
def test_the_reason_names_the_first_after_which_nobody_answered(
    monkeypatch: pytest.MonkeyPatch, evidence: Evidence
) -> None:
    asked_of(monkeypatch, answers=False)
    target, clock = SilentTarget(), RunClock()
    target.look(THEIRS, clock, "A", evidence)
    target.look(THEIRS, clock, "B", evidence)
    assert "since A was tried" in (target.reason(THEIRS, clock) or "")


def test_a_target_that_is_started_again_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = asked_of(monkeypatch, answers=False)
    target, clock = SilentTarget(), RunClock()
    target.look(THEIRS, clock, "A", CUT_SHORT)
    answers.now = True
    assert target.reason(THEIRS, clock) is None
    answers.now = False
    assert target.reason(THEIRS, clock) is None, "nobody has looked again"


def test_it_is_asked_only_where_something_could_not_be_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = asked_of(monkeypatch, answers=True)
    target, clock = SilentTarget(), RunClock()
    target.look(THEIRS, clock, "A", Evidence())
    target.look(OURS, clock, "A", CUT_SHORT)
    assert (target.reason(THEIRS, clock), answers.asked) == (None, 0)
    target.look(THEIRS, clock, "A", CUT_SHORT)
    assert (target.reason(THEIRS, clock), answers.asked) == (None, 1)
