"""Records that somebody else wrote into ``__transaction_state``, and a coordinator that reads them.

The coordinator reads what was appended when the partition's leadership moves to another replica and back: that is how a
record of another release, or a state that is reached in hours, comes to be what it keeps.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from harness.base import wait
from harness.base.unprepared import OutOfReach, Unprepared
from harness.kafka.leaders.brokers_view import BrokersView
from harness.kafka.leaders.coordinator_records import ADMIN, append_states
from harness.kafka.leaders.moving import ELECTED_SECONDS, move
from harness.wire.records.transaction_state import TOPIC, NewState
from harness.wire.topic_partitions import partition_name
from harness.wire.wire_client import WireClient

BATCH = 5_000
"""Records of one batch, well below a megabyte."""


@dataclass(frozen=True, slots=True)
class StateLog:
    """The coordinators' log of a cluster of ours.

    :param open_client: A client on the observer's lane under a name that brokers see; its exchanges are not recorded.
    """

    view: BrokersView
    open_client: Callable[[str], WireClient]
    owned: bool

    @property
    def can_be_written(self) -> bool:
        """Whether the cluster is ours, and has a broker to which a partition's leadership can move."""
        return self.owned and len(self.view.brokers) > 1

    def replace(self, *states: NewState) -> None:
        """These are the newest records of their ids, and what their coordinators keep.

        :raises OutOfReach: When the cluster is not ours, or has one broker.
        :raises Unprepared: When a broker refuses what this takes.
        """
        if not self.can_be_written:
            raise OutOfReach(f"{TOPIC} is written to only on a cluster of ours, and read again only by a second broker")
        by_partition: dict[int, list[NewState]] = {}
        for state in states:
            by_partition.setdefault(self.view.state_partition(state.transactional_id)[1], []).append(state)
        leaders = {index: self.view.partition(TOPIC, index) for index in by_partition}
        for index, written in by_partition.items():
            coordinator = leaders[index]["leader"]
            self._append(index, coordinator, written)
            self._reload(index, coordinator, leaders[index]["replicas"])

    def lengthen(self, transactional_id: str, records: int) -> None:
        """At least so many records more, of an id that nobody uses, in the partition that keeps this one.

        Who coordinates it next takes longer to load it; raises as :meth:`replace` does.
        """
        if not self.can_be_written:
            raise OutOfReach(f"{TOPIC} is written to only on a cluster of ours")
        _, index = self.view.state_partition(transactional_id)
        coordinator = self.view.partition(TOPIC, index)["leader"]
        unused = BATCH * [NewState(f"{transactional_id}-unused", 0, 0, 60_000)]
        for _ in range(0, records, BATCH):
            self._append(index, coordinator, unused)

    def _append(self, index: int, coordinator: int, states: Sequence[NewState]) -> None:
        with closing(self.open_client(ADMIN)) as client:
            append_states(client, index, coordinator, states)

    def _reload(self, index: int, coordinator: int, replicas: Sequence[int]) -> None:
        """Another replica leads the partition for a moment; then the coordinator does, and has read it."""
        others = [node for node in replicas if node != coordinator]
        if not others:
            raise Unprepared(f"{partition_name(TOPIC, index)} has one replica, so its leadership cannot move")
        try:
            self._lead(index, [*others, coordinator])
        finally:
            self._lead(index, [coordinator, *others])

    def _lead(self, index: int, order: Sequence[int]) -> None:
        """Returns when all brokers know the first as the leader."""
        move(self.view, TOPIC, index, order)
        wait.until(
            lambda: self.view.led_by(TOPIC, index, order[0]),
            what=f"broker {order[0]} as leader of {partition_name(TOPIC, index)} everywhere",
            timeout_seconds=ELECTED_SECONDS,
        )
