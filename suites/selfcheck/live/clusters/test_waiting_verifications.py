"""A late write under an id's former producer id has the present one refused.

See ``suites/chaos/findings/former-producer-id.md``.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.base.wait import until
from harness.contract import KafkaError
from harness.evidence.requirement_evidence import Step
from harness.faults.gate.gate import open_gate
from harness.lab.lab import Lab
from harness.lab.producer import Producer
from suites.selfcheck.fixtures.live_clients import lab_on, process_cluster

pytestmark = pytest.mark.live

ANSWER_SECONDS = 10.0


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A lab on a cluster of its own, with a gate for single requests."""
    with closing(process_cluster("4.3.1", tmp_path)) as cluster:
        assert cluster.links is not None
        with (
            closing(open_gate(cluster.links)) as gate,
            closing(lab_on(cluster, "WAITING", tmp_path / "spark", gate=gate)) as made,
        ):
            yield made


def test_a_late_write_of_the_former_producer_id_has_the_present_one_refused(lab: Lab) -> None:
    (owner,) = lab.near_the_end(protocol=2)
    former = owner.apart()
    owner.init()
    assert owner.producer_id != former.producer_id
    assert write_while_the_coordinator_is_asked(lab, owner).error == 0
    assert write_while_the_coordinator_is_asked(lab, owner, former).error == KafkaError.INVALID_PRODUCER_EPOCH
    assert owner.end(commit=False).error == 0


def write_while_the_coordinator_is_asked(lab: Lab, owner: Producer, *former: Producer) -> Step:
    """A first write to a partition, whose verification waits behind another; the former producer may write too.

    Each over a connection of its own: a broker reads the next request of a connection when it has answered the last.
    """
    leader, name = lab.another_broker(owner.coordinator), "together" if former else "alone"
    other = lab.producer(protocol=2, coordinator=owner.coordinator)
    asked, own, late = (lab.partition(f"{part}-{name}", leader=leader) for part in ("asked", "own", "late"))
    link = lab.link(leader, owner.coordinator)
    with lab.gate(link, api="AddPartitionsToTxn", action="hold", name=f"question {name}") as held:
        first = other.start_produce(asked)
        held.wait()
        write, too_late = owner.apart().start_produce(own), [each.start_produce(late) for each in former]
        if former:
            until(write.done, what="a refusal", timeout_seconds=ANSWER_SECONDS)
        held.release()
        assert first.answer(as_="asked").error == 0
        assert all(each.answer(as_="late").error for each in too_late)
        return write.answer(as_="own")
