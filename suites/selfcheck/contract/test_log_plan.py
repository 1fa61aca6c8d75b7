"""A planned log is the same by hand and as a check demands it; another log is no evidence about a reader."""

import pytest

from harness.contract import NotSeen
from harness.contract.clients.log_plan import PLAIN, TakesOver, aborts, as_planned, commits, log_of, wrote
from harness.contract.doctored import evidence

PLAN = (wrote("A", "a1", "a2"), wrote(PLAIN, "p1"), wrote("B", "b1"), commits("B"), aborts("A"))


def test_a_plan_is_the_log_that_its_producers_write() -> None:
    truth = log_of(PLAN)
    assert truth.committed == ("p1", "b1")
    assert [each.base_offset for each in truth.batches] == [0, 2, 3, 4, 5]
    assert (truth.high_watermark, truth.last_stable_offset) == (6, 6)


def test_a_newer_instance_aborts_what_the_older_one_has_open_and_has_its_producer_id() -> None:
    truth = log_of((wrote("old", "o1"), TakesOver("new", older="old"), wrote("new", "n1"), commits("new")))
    assert (truth.committed, truth.marks()) == (("n1",), (("ABORT", 1), ("COMMIT", 0)))
    assert len({each.producer_id for each in truth.batches}) == 1


def test_what_lies_wholly_below_the_beginning_is_gone() -> None:
    truth = log_of(PLAN, start=1)
    assert truth.values() == ("a1", "a2", "p1", "b1")
    assert log_of(PLAN, start=3).committed == ("b1",)


@pytest.mark.parametrize(
    "other",
    [PLAN[:-1], (*PLAN[:3], aborts("A"), commits("B")), (wrote("A", "a1"), wrote("A", "a2"), *PLAN[1:])],
    ids=["shorter", "markers in another order", "other batches"],
)
def test_another_log_is_not_seen(other: tuple[object, ...]) -> None:
    as_planned(evidence(logs={"P1": log_of(PLAN)}), log_of(PLAN))
    with pytest.raises(NotSeen):
        as_planned(evidence(logs={"P1": log_of(other)}), log_of(PLAN))  # type: ignore[arg-type]
