"""Looks at what a coordinator keeps: they judge what goes on and what changes, not what a state is called."""

from dataclasses import replace

import pytest

from harness.contract import KafkaError, Observation, Witness
from harness.contract.doctored import described, evidence, step
from harness.contract.expect import Finding, NotLooked, keeps, not_open, over, producer, taken, unchanged
from harness.evidence.requirement_evidence import Step

UNSEEN = Step(name="kept", api="DescribeTransactions", version=-1, error=None, looked=False)


def kind(observation: Observation) -> type[Observation]:
    """Witness, finding, or neither."""
    return type(observation)


@pytest.mark.parametrize("state", ["Empty", "CompleteCommit", "CompleteAbort", "Dead", "Idle"])
def test_whatever_a_state_is_called_nothing_is_going_on_in_it(state: str) -> None:
    assert kind(over(described("kept", state))) is Witness


@pytest.mark.parametrize("state", ["Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"])
def test_a_transaction_that_goes_on_is_not_over(state: str) -> None:
    assert kind(over(described("kept", state))) is Finding


def test_two_looks_may_list_the_same_partitions_in_another_order() -> None:
    before = described("before", "Ongoing", partitions=("P1", "P2"))
    others = {("P2", "P1"): Witness, ("P2",): Finding, ("P1", "P3"): Finding}
    for partitions, expected in others.items():
        after = described("after", "Ongoing", partitions=partitions)
        assert kind(unchanged(before, after, "state", "partitions", otherwise="changed")) is expected


def test_two_looks_are_compared_in_the_named_fields_alone() -> None:
    before, after = described("before", "Empty", epoch=1), described("after", "CompleteAbort", epoch=1)
    assert kind(unchanged(before, after, "producer_epoch", otherwise="changed")) is Witness
    assert kind(unchanged(before, after, "state", otherwise="changed")) is Finding


def test_a_look_that_was_not_taken_is_neither_witness_nor_finding() -> None:
    seen = described("seen", "Ongoing")
    looks = (over(UNSEEN), unchanged(UNSEEN, seen, "state", otherwise="x"), unchanged(seen, UNSEEN, otherwise="x"))
    assert {kind(one) for one in looks} == {NotLooked}


def test_a_part_that_was_not_taken_has_no_steps() -> None:
    seen = evidence(step("once", "EndTxn", 5))
    assert [len(taken(seen, name)) for name in ("once", "never")] == [1, 0]


@pytest.mark.parametrize("error", [None, KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS])
def test_a_look_that_tells_nothing_is_neither_witness_nor_finding(error: int | None) -> None:
    look = replace(described("kept", "Ongoing", epoch=1), error=error, fields={})
    row = replace(look, api="DescribeProducers")
    looks = (over(look), keeps(look, epoch=1), producer(row, 7, producer_epoch=1), not_open(row, 7))
    assert {kind(one) for one in looks} == {NotLooked}


def test_a_refusal_for_good_tells_something() -> None:
    look = replace(described("kept", "Ongoing"), error=KafkaError.TRANSACTIONAL_ID_NOT_FOUND, fields={})
    assert kind(keeps(look, epoch=1)) is Finding
