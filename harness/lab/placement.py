"""Where a requirement's partitions, groups and transactional ids lie.

Partitions get a leader that is not the coordinator of any producer so far, and producers a transactional id whose
coordinator leads none of the partitions so far, so that Produce and EndTxn travel on different links.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from harness.base.unprepared import Unprepared
from harness.kafka.administration import Administration
from harness.lab.group import CONSUMER_OFFSETS, Group
from harness.lab.partition import Partition
from harness.wire.requests.groups.find_coordinator import GROUP

DRAWS = 50
"""Transactional ids drawn before a coordinator away from the partitions' leaders is given up."""


@dataclass(slots=True, kw_only=True)
class Placement:
    """What one requirement has on the cluster; names and leaders are drawn from the run's seed.

    :param coordinators: Of the producers so far.
    """

    admin: Administration
    requirement: str
    draw: Random
    partitions: list[Partition] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    coordinators: set[int] = field(default_factory=set)

    def partition(
        self, alias: str, *, leader: int | None, replicas: int, configs: Mapping[str, str] | None
    ) -> Partition:
        """A fresh topic of one partition, led by ``leader`` or by a broker away from all coordinators so far."""
        led_by = leader if leader is not None else self._quiet_broker()
        others = [broker for broker in self.admin.brokers if broker != led_by]
        topic = self._name(alias.lower())
        topic_id = self.admin.create_topic(topic, {0: (led_by, *others[: replicas - 1])}, configs)
        made = Partition(alias=alias, topic=topic, index=0, leader=led_by, topic_id=topic_id)
        self.partitions.append(made)
        return made

    def group(self, alias: str) -> Group:
        """A fresh group and the partition that keeps its offsets."""
        name = self._name("group")
        leader = self.admin.coordinator(name, key_type=GROUP)
        index, _ = self.admin.key_partition(CONSUMER_OFFSETS, name)
        made = Group(name=name, offsets=Partition(alias=alias, topic=CONSUMER_OFFSETS, index=index, leader=leader))
        self.groups.append(made)
        return made

    def transactional_id(self, lane: str, wanted: int | None) -> tuple[str, int]:
        """A fresh id and its coordinator: ``wanted``, or one away from the partitions' leaders so far.

        :raises Unprepared: When no id that was drawn has the wanted coordinator.
        """
        leading = {partition.leader for partition in self.partitions}
        brokers = set(self.admin.brokers)
        fitting = {wanted} if wanted is not None else (brokers - leading or brokers)
        for _ in range(DRAWS):
            drawn = self._name(lane)
            coordinator = self.admin.coordinator(drawn)
            if coordinator in fitting:
                break
        if wanted not in (None, coordinator):
            raise Unprepared(f"{DRAWS} drawn ids, none coordinated by broker {wanted}")
        return drawn, coordinator

    def _name(self, what: str) -> str:
        return f"{self.requirement.lower()}-{what}-{self.draw.randrange(16**8):08x}"

    def _quiet_broker(self) -> int:
        leading = {partition.leader for partition in self.partitions}
        away = [(broker in self.coordinators, broker in leading, self.draw.random()) for broker in self.admin.brokers]
        return min(zip(away, self.admin.brokers, strict=True))[1]
