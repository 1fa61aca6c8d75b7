"""A late write under an id's former producer id has the present one refused.

See ``suites/chaos/findings/former-producer-id.md``.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from harness.base.wait import until
from harness.contract import KafkaError
from harness.faults.gate.gate import open_gate
from harness.lab.lab import Lab
from harness.lab.powers.request_gate import Gated
from harness.lab.producer import Producer
from suites.selfcheck.fixtures.live_clients import lab_on, process_cluster

pytestmark = pytest.mark.live

ANSWER_SECONDS = 10.0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab on a cluster of its own, with a gate for single requests."""
    folder = tmp_path_factory.mktemp("waiting")
    with closing(process_cluster("4.3.1", folder)) as cluster:
        assert cluster.links is not None
        with (
            closing(open_gate(cluster.links)) as gate,
            closing(lab_on(cluster, "WAITING", folder / "spark", gate=gate)) as made,
        ):
            yield made


def test_a_late_write_of_the_former_producer_id_has_the_present_one_refused(lab: Lab) -> None:
    (owner,) = lab.near_the_end(protocol=2)
    leader, former = lab.another_broker(owner.coordinator), owner.apart()
    owner.init()
    assert owner.producer_id != former.producer_id
    with a_question_waits(lab, owner, leader) as held:
        alone = owner.apart().start_produce(lab.partition("alone", leader=leader))
        held.release()
        assert alone.answer(as_="alone").error == 0
    with a_question_waits(lab, owner, leader) as held:
        own, late = (lab.partition(name, leader=leader) for name in ("own", "late"))
        write, too_late = owner.apart().start_produce(own), former.start_produce(late)
        until(write.done, what="a refusal", timeout_seconds=ANSWER_SECONDS)
        held.release()
        assert too_late.answer(as_="late").error == KafkaError.INVALID_PRODUCER_ID_MAPPING
        assert write.answer(as_="own").error == KafkaError.INVALID_PRODUCER_EPOCH
    assert owner.end(commit=False).error == 0


def test_the_present_ones_offsets_are_refused_as_well(lab: Lab) -> None:
    group = lab.group()
    leader = group.offsets.leader
    (owner,) = lab.near_the_end(protocol=2, coordinator=lab.another_broker(leader))
    own, late, former = lab.partition("read"), lab.partition("late", leader=leader), owner.apart()
    owner.init()
    with a_question_waits(lab, owner, leader):
        former.start_produce(late)
        assert owner.apart().commit_offset(group, own, 1, as_="own").error == KafkaError.INVALID_PRODUCER_EPOCH
    assert owner.commit_offset(group, own, 1, as_="again").error == 0


@contextmanager
def a_question_waits(lab: Lab, owner: Producer, leader: int) -> Iterator[Gated]:
    """A leader's verification of another transaction lies at the gate, and those that follow it wait at the leader.

    What is sent meanwhile needs connections of its own (``apart``): a broker reads the next request of a connection
    when it has answered the last.
    """
    other = lab.producer(protocol=2, coordinator=owner.coordinator)
    link, name = lab.link(leader, owner.coordinator), f"question of {other.transactional_id}"
    with lab.gate(link, api="AddPartitionsToTxn", action="hold", name=name) as held:
        first = other.start_produce(lab.partition("asked", leader=leader))
        held.wait()
        yield held
    assert first.answer(as_="asked").error == 0
