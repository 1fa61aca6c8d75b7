"""Records appended to ``__transaction_state`` by somebody who is no coordinator.

Brokers take writes to internal topics from the client id ``__admin_client`` (``KafkaApis.handleProduceRequest``). A
coordinator reads them when it loads the partition.
"""

from collections.abc import Sequence

from harness.base.unprepared import Unprepared
from harness.kafka.any_broker import told
from harness.wire.records.record_batch import NewBatch, escaped
from harness.wire.records.transaction_state import TOPIC, NewState
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.topic_partitions import partition_name
from harness.wire.wire_client import WireClient

ADMIN = "__admin_client"
"""``AdminUtils.ADMIN_CLIENT_ID``, in every release."""
NAMES_TOPICS = 9
"""A version of Produce in which topics have names, offered by all releases from 2.8 on."""


def append_states(client: WireClient, index: int, leader: int, states: Sequence[NewState]) -> None:
    """One batch, to the leader of one partition.

    :param client: One whose name is :data:`ADMIN`.
    :raises Unprepared: When the broker refuses it.
    """
    placed = PartitionBatch(topic=TOPIC, partition=index, batch=_batch(states))
    request = Produce(transactional_id=None, batches=(placed,))
    result = client.call(leader, request, client.highest(leader, request.api, NAMES_TOPICS)).result
    if result.error:
        raise Unprepared(f"Produce to {partition_name(TOPIC, index)} answered {told(result)}")


def _batch(states: Sequence[NewState]) -> NewBatch:
    keys = tuple(escaped(state.key) for state in states)
    return NewBatch(values=tuple(escaped(state.value) for state in states), keys=keys, transactional=False)
