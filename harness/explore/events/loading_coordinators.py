"""A coordinator that is asked while it loads: its log is long, and another broker has just become its leader.

Whether it was loading is told by a request that changes nothing, which is sent before the others and after them: it
names the producer id of nobody, and is refused for it once the id is known (``TransactionCoordinator``).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.explore.asker import Outgoing
from harness.explore.cell_run import CellRun
from harness.explore.events.moved_leaders import MovedLeaders
from harness.explore.explored_cluster import ExploredCluster
from harness.explore.looks.listed_ends import listed_ends
from harness.explore.looks.pool_look import await_loaded
from harness.kafka.leaders.coordinator_records import ADMIN, append_states
from harness.model.alphabet import OWN, PARTITIONS
from harness.wire.api_results import PartitionErrors
from harness.wire.records.transaction_state import TOPIC, NewState
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import WireClient

LONG = (TOPIC, 0)
"""The partition whose log is made long; it keeps the ids of all cells that are asked while it loads."""
RECORDS = 1_000_000
"""In it: enough that some hundred requests are answered while they are read."""
AT_ONCE = 5_000
"""Records of a batch."""
BY_CLIENTS = 3
"""The version of AddPartitionsToTxn of old clients."""
KNOWN_SECONDS = 10.0
"""Within which the new coordinator must know that it is one."""
NOT_LOADING = "its coordinator had loaded before it was asked"
LOADED_MEANWHILE = "its coordinator may have loaded before it answered"


@dataclass(slots=True, kw_only=True)
class LoadingCoordinators:
    """Used by one thread. :param connect: A client that nobody else uses, by the client id that it is to have."""

    cluster: ExploredCluster
    moved: MovedLeaders
    connect: Callable[[str], WireClient]
    _led_by: Mapping[TopicPartition, int] | None = None

    def lengthen(self) -> None:
        """Make the log long, where it is not yet.

        :raises WireError, Unprepared: When it cannot be.
        """
        leader = self.cluster.state_leaders()[LONG]
        there = listed_ends(self.cluster.observer, {LONG: leader})[LONG].offset
        unused = AT_ONCE * [NewState(self.cluster.belongings.name("unused"), 0, 0, 60_000)]
        with closing(self.connect(ADMIN)) as client:
            for _ in range(there, RECORDS, AT_ONCE):
                append_states(client, LONG[1], leader, unused)

    def begin(self, runs: Sequence[CellRun]) -> None:
        """Return while it loads; cells whose coordinator has loaded already are missed.

        :raises WireError, Unprepared, TimedOut: When it cannot be moved.
        """
        self._led_by = self.moved.begin([LONG])
        wait.until(
            lambda: self._is_known(runs[0]),
            what="another coordinator",
            timeout_seconds=KNOWN_SECONDS,
            interval_seconds=0.002,
        )
        self._miss(runs, NOT_LOADING)
        for run in runs:
            run.who.coordinators_moved(self.cluster.coordinator_epochs(run.who.ids))

    def end(self, runs: Sequence[CellRun]) -> None:
        """Once all is answered: what may have been answered by a coordinator that had loaded is missed."""
        led_by, self._led_by = self._led_by, None
        if led_by is None or not runs:
            return
        self._miss(runs, LOADED_MEANWHILE)
        self.moved.await_known(led_by)
        await_loaded(self.cluster)

    def _is_known(self, run: CellRun) -> bool:
        """Whether brokers name the new one, and it does not send us to another one."""
        assert self._led_by is not None, "nothing moves"
        self.cluster.look_up_coordinators()
        named = self.cluster.state_leaders()[LONG] == self._led_by[LONG]
        return named and self._asked([run]) != [KafkaError.NOT_COORDINATOR]

    def _miss(self, runs: Sequence[CellRun], why: str) -> None:
        left = [run for run in runs if run.missed is None]
        for run, error in zip(left, self._asked(left), strict=True):
            if error != KafkaError.COORDINATOR_LOAD_IN_PROGRESS:
                run.missed = why

    def _asked(self, runs: Sequence[CellRun]) -> list[int | None]:
        """What is answered about the id of each; None where nothing is."""
        answers = self.cluster.asker.ask([self._question(run) for run in runs])
        return [answer.error if isinstance(answer, PartitionErrors) else None for answer in answers]

    def _question(self, run: CellRun) -> Outgoing:
        name = run.who.ids[OWN]
        places = (run.who.places[PARTITIONS[0]],)
        request = AddPartitionsToTxn(
            transactional_id=name, producer_id=run.who.nobodys, producer_epoch=0, partitions=places
        )
        return Outgoing(lane=run.number, node=self.cluster.coordinator(name), request=request, version=BY_CLIENTS)
