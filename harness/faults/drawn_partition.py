"""A partition of the workload's data as toxics draw it: by the workload's own name of its topic."""

from collections.abc import Mapping

from harness.base.json_value import Json
from harness.faults.fault_target import FaultTarget
from harness.faults.typed_draws import number, text
from harness.wire.topic_partitions import TopicPartition


def drawn_partition(fault_target: FaultTarget, chosen: Mapping[str, Json]) -> TopicPartition:
    """The real topic and index of what ``topic`` and ``partition`` name; a topic that is not the workload's is itself.

    :raises ValueError: When they were not drawn.
    """
    topic = text(chosen, "topic")
    return fault_target.topics.get(topic, topic), number(chosen, "partition")
