"""AddPartitionsToTxn as brokers send it: answers under our names; who is no broker is out of reach, not refused."""

from dataclasses import replace
from typing import Any, cast

import pytest

from harness.base.kafka_error import KafkaError
from harness.base.unprepared import OutOfReach
from harness.evidence.requirement_evidence import Step
from harness.lab.powers.joint_requests import JointRequests
from harness.lab.step_recorder import StepRecorder
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn

ASKED = AddPartitionsToTxn(transactional_id="tx-1", producer_id=7, producer_epoch=0, partitions=(("t", 0),))
ANSWER = Step(name="add", api="AddPartitionsToTxn", version=4, error=0, fields={"transactions": {"tx-1": {"error": 0}}})


class Answering:
    """A recorder whose every answer is the one given."""

    def __init__(self, answer: Step) -> None:
        self.answer = answer

    def asked(self, *_: object, **__: object) -> Step:
        return self.answer

    def kept(self, step: Step, _as: str | None) -> Step:
        return step


def answered(step: Step, **options: Any) -> Step:
    joint = JointRequests(cast(StepRecorder, Answering(step)), **options)
    return joint.add(1, {"A": ASKED}, version=4, as_="add")


def test_a_transaction_is_read_under_our_name() -> None:
    assert answered(ANSWER).of("A").error == 0
    assert answered(ANSWER).of("B").error is None


def test_who_is_no_broker_is_out_of_reach_unless_that_is_what_is_judged() -> None:
    refused = replace(ANSWER, error=int(KafkaError.CLUSTER_AUTHORIZATION_FAILED), fields={})
    with pytest.raises(OutOfReach, match="ClusterAction"):
        answered(refused)
    assert answered(refused, as_broker=False).error == KafkaError.CLUSTER_AUTHORIZATION_FAILED
