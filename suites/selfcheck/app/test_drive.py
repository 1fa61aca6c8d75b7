"""A stimulus that cannot go on is a reason, not a crash: also where it needs an answer that never came."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.unprepared import Unprepared
from harness.base.wait import TimedOut
from harness.contract import Requirement
from harness.contract.doctored import step
from harness.lab import Lab
from harness.run import drive
from harness.wire.wire_errors import ConnectionClosed

NO_ANSWER = step("no identity", "InitProducerId", 4, error=None)


def raising(error: Exception) -> Callable[[Lab], None]:
    """A stimulus that ends so."""

    def stimulus(_lab: Lab) -> None:
        raise error

    return stimulus


def reason_of(stimulus: Callable[[Lab], object]) -> Exception | None:
    """What ``drive`` says of such a stimulus, on a cluster that is not ours."""
    lab = SimpleNamespace(cluster=SimpleNamespace(owned=False), accessed=set(), groups=())
    requirement = SimpleNamespace(id="R", stimulus=stimulus, beside_others=False, access=())
    return drive(cast(Lab, lab), cast(Requirement[Any], requirement))


def test_an_answer_that_never_came_is_the_reason() -> None:
    reason = reason_of(lambda _lab: NO_ANSWER.answer_int("producer_id"))
    assert "'no identity' has no integer field 'producer_id'" in str(reason)


@pytest.mark.parametrize("error", [Unprepared("no leader"), ConnectionClosed("no connection"), TimedOut("too long")])
def test_what_could_not_be_brought_about_is_the_reason(error: Exception) -> None:
    assert reason_of(raising(error)) is error


def test_a_fault_of_ours_is_none() -> None:
    with pytest.raises(ZeroDivisionError):
        reason_of(raising(ZeroDivisionError()))
