"""Leaders of many partitions moved at once, by Kafka's own administration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.kafka.leaders.brokers_view import BrokersView
from harness.kafka.leaders.moving import ELECTED_SECONDS, elect_all
from harness.wire.topic_partitions import TopicPartition

IN_SYNC_SECONDS = 15.0
"""That a replica may take to be in sync."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedLeaders:
    """:param orders: Of the replicas of partitions that live on, as they were at first."""

    view: BrokersView
    orders: dict[TopicPartition, Sequence[int]] = field(default_factory=dict)

    def move(self, places: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Each is led by its next replica, and every broker knows it; the new leaders.

        :raises Unprepared: When a partition has one replica, or the controller refuses.
        :raises TimedOut: When replicas are not in sync, or brokers do not get to know the leaders, in time.
        """
        leaders = self.begin(places)
        self.await_known(leaders)
        return leaders

    def begin(self, places: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """As :meth:`move`, but returns as soon as the controller has elected them."""
        wanted = {place: self._turned(place) for place in places}
        elect_all(self.view, wanted)
        return {place: order[0] for place, order in wanted.items()}

    def await_known(self, leaders: Mapping[TopicPartition, int]) -> None:
        """Every broker knows them; :raises TimedOut: where not in time."""
        for place, leader in leaders.items():
            wait.until(
                lambda place=place, leader=leader: self._leads(place, leader),  # type: ignore[misc]
                what=f"broker {leader} as leader of {place[0]}-{place[1]} everywhere",
                timeout_seconds=ELECTED_SECONDS,
            )

    def put_back(self) -> None:
        """The first orders again; raises as :meth:`move` does."""
        if self.orders:
            elect_all(self.view, self.orders)
            self.await_known({place: order[0] for place, order in self.orders.items()})
            self.orders.clear()

    def _turned(self, place: TopicPartition) -> Sequence[int]:
        """Its replicas, the next one first."""
        known = self.view.partition(*place)["replicas"]
        if len(known) < 2:
            raise Unprepared(f"{place[0]}-{place[1]} has one replica, so that its leader cannot move")
        wait.until(
            lambda: set(self.view.partition(*place)["isr"]) == set(known),
            what=f"replicas of {place[0]}-{place[1]} in sync",
            timeout_seconds=IN_SYNC_SECONDS,
        )
        return (*known[1:], known[0])

    def _leads(self, place: TopicPartition, node: int) -> bool:
        return self.view.led_by(*place, node) and self.view.caught_up(*place, node)
