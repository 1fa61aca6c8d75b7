"""Unclean election: a partition of open transactions loses its log, because a replica that lacks it comes to lead.

Of the partitions that may lose theirs it is the one that most open transactions have. All replicas but the leader are
given up and one is taken in anew, which a cut link keeps from copying anything; then the leader is killed, and the
empty replica is elected all the same (ElectLeaders, ``UNCLEAN``, KIP-460). No other partition loses anything. Records,
markers and what the leader knew of producers are gone there; coordinators have to end the transactions all the same.
Needs proxies and the power to kill. Counts transactions that had the partition when the leader was killed, and had not
ended when nobody led it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random

from harness.base import wait
from harness.base.deferred_action import deferred
from harness.base.json_value import Json
from harness.base.kafka_error import error_name
from harness.base.unprepared import Unprepared
from harness.cluster.topology import link_name
from harness.faults.brokers.broker_restart import can_kill
from harness.faults.brokers.leadership import await_recovery, give_replicas_back
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.faults.observer.open_transactions import OpenTransactions
from harness.faults.proxy_faults import with_connections_cut
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number, texts
from harness.kafka.any_broker import AnyBroker
from harness.kafka.leaders.moving import reassign
from harness.kafka.topics import Topics
from harness.wire.requests.cluster.elect_leaders import UNCLEAN, ElectLeaders
from harness.wire.topic_partitions import TopicPartition, named_partition

CHANGED_SECONDS = 15.0
"""Within which brokers must know of replicas that were given up, of a leader that is gone, and of the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UncleanElection:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "unclean-election"
    power: Power = Power.PROCESS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.PROCESSES,)
    disrupts_broker: bool = True

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``topics`` that may lose records, by the workload's names, in an order; ``rank`` of the replica that is to
        lead among those that do not, and ``down_ms`` before the killed leader is started again.
        """
        topics: list[Json] = [*draw.sample(shape.passing, len(shape.passing))]
        return {"topics": topics, "rank": draw.randrange(len(shape.brokers) - 1), "down_ms": draw.randint(0, 2_000)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """The replica leads on entering; on leaving, the killed broker is back, and so are all replicas.

        :raises Powerless: When the target's brokers are not ours to kill, or there are no proxies.
        :raises Unprepared: When no transaction is open on such a topic in time, or the controller refuses.
        :raises TimedOut: When the brokers do not get to know of a change, or the killed one does not come back.
        """
        can_kill(fault_target)
        wanted = [fault_target.topics[name] for name in texts(chosen, "topics")]
        with on_observer_lane(fault_target) as leader_client, ExitStack() as healing:
            transactions = OpenTransactions(
                leader_client=leader_client, names=fault_target.transactional_ids, topics=wanted, place_of=str
            )
            name, _ = transactions.most_used()
            loss = _Loss.of(fault_target, name, number(chosen, "rank"))
            strikes = StrikeCount(where=name, how="")
            loss.strike(healing, strikes, transactions, number(chosen, "down_ms") / 1000)
            yield strikes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss:
    """One partition, who leads it, and who is to lead it without its log."""

    fault_target: FaultTarget
    place: TopicPartition
    replicas: Sequence[int]
    leader: int
    successor: int

    @classmethod
    def of(cls, fault_target: FaultTarget, name: str, rank: int) -> "_Loss":
        """:raises Unprepared: When the partition has no leader, or there is nobody else."""
        place = named_partition(name)
        now = fault_target.partition(*place)
        others = sorted(node for node in fault_target.brokers if node != now["leader"])
        if now["leader"] < 0 or not others:
            raise Unprepared(f"{name} has no leader, or nobody else can lead it")
        successor = others[rank % len(others)]
        return cls(
            fault_target=fault_target, place=place, replicas=now["replicas"], leader=now["leader"], successor=successor
        )

    def strike(
        self, healing: ExitStack, strikes: StrikeCount, transactions: OpenTransactions, down_seconds: float
    ) -> None:
        """:param healing: Gets what undoes it."""
        name = strikes.where
        healing.callback(give_replicas_back, self.fault_target, self.place, self.replicas, strikes)
        with with_connections_cut(self.fault_target, [link_name(self.successor, self.leader)]):
            self._take_in_without_log()
            had, before = self._end(self.leader), transactions.on(name)
            with self._killed(healing, strikes, down_seconds):
                left = transactions.left_of(before, name)
                self._elect()
        has = self._end(self.successor)
        strikes.struck = len(left)
        lost = f"{has} of {had} records and markers are left on broker {self.successor}, which leads"
        strikes.how = f"{lost}; transactions open on it: {', '.join(left) or 'none'}"

    def _take_in_without_log(self) -> None:
        alone = (self.leader,)
        reassign(self.fault_target, *self.place, alone)
        self._until(lambda: self.fault_target.in_sync(*self.place) == alone, "one replica")
        reassign(self.fault_target, *self.place, (self.leader, self.successor))
        both = {self.leader, self.successor}
        self._until(lambda: set(self.fault_target.partition(*self.place)["replicas"]) == both, "a replica without log")

    @contextmanager
    def _killed(self, healing: ExitStack, strikes: StrikeCount, down_seconds: float) -> Iterator[None]:
        """The partition has no leader in the block, so no transaction that has it can end; the killed broker comes back
        a while after that: before, it would lead again.
        """
        cluster = can_kill(self.fault_target)
        since = self.fault_target.clock.now()
        cluster.kill(self.leader)
        strikes.moment = since, self.fault_target.clock.now()
        healing.callback(await_recovery, self.fault_target, self.leader, strikes)
        try:
            self._until(lambda: self.fault_target.leader(*self.place) is None, "no leader")
            yield
        finally:
            healing.enter_context(deferred(down_seconds, partial(cluster.restart, self.leader)))

    def _elect(self) -> None:
        """:raises Unprepared: When the controller refuses."""
        elected = self.fault_target.to_controller(ElectLeaders(partitions=(self.place,), election_type=UNCLEAN))
        if elected.error:
            raise Unprepared(f"ElectLeaders answered {error_name(elected.error)}")
        self._until(lambda: self.fault_target.leader(*self.place) == self.successor, f"broker {self.successor} leading")

    def _end(self, leader: int) -> int:
        return Topics(AnyBroker(self.fault_target.client, self.fault_target.brokers)).end(self.place, leader)

    @staticmethod
    def _until(condition: Callable[[], bool], what: str) -> None:
        wait.until(condition, what=what, timeout_seconds=CHANGED_SECONDS, interval_seconds=0.01)


TOXIC = UncleanElection()
