"""Delete topic: a topic of the round is deleted while transactions are open on it.

Of the topics that may be deleted it is the one that most open transactions have a partition of. Their coordinators
can write no marker there any more, and end them all the same: a partition that nobody knows is taken off what is still
to be marked (``TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue``). Needs only Kafka's own administration.
Counts transactions that had a partition of the topic before it was deleted, and had not ended when no broker knew it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.base.kafka_error import error_name
from harness.base.unprepared import Unprepared
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.faults.observer.open_transactions import OpenTransactions
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import texts
from harness.kafka.any_broker import AnyBroker
from harness.kafka.topics import Topics


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDeletion:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "delete-topic"
    power: Power = Power.LEADERSHIP
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.TOPICS,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``topics`` that may be deleted, by the workload's names: of those alike the first one is."""
        return {"topics": draw.sample(shape.passing, len(shape.passing))}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Deleted on entering; the block is time in which clients go on.

        :raises Unprepared: When no transaction is open on such a topic in time, or the controller refuses.
        """
        wanted = [fault_target.topics[name] for name in texts(chosen, "topics")]
        with on_observer_lane(fault_target) as leader_client:
            names = fault_target.transactional_ids
            transactions = OpenTransactions(leader_client=leader_client, names=names, topics=wanted)
            topic, before = transactions.most_used()
            moment = _delete(fault_target, topic)
            left = transactions.left_of(before, topic)
        how = f"transactions open on it when it was gone: {', '.join(left) or 'none'}"
        yield StrikeCount(where=topic, how=how, struck=len(left), moved=(), moment=moment)


def _delete(fault_target: FaultTarget, topic: str) -> tuple[float, float]:
    """When the controller was asked, and when it had answered.

    :raises Unprepared: When the controller refuses, or some broker knows the topic too long.
    """
    topics = Topics(AnyBroker(fault_target.client, fault_target.brokers))
    asked = fault_target.clock.now()
    refused = topics.delete((topic,))
    answered = fault_target.clock.now()
    if refused:
        raise Unprepared(f"DeleteTopics of {topic} answered {error_name(refused[topic])}")
    if not topics.await_gone(topic):
        raise Unprepared(f"some broker still knows {topic}, which was deleted")
    return asked, answered


TOXIC = TopicDeletion()
