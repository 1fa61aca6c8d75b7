"""One requirement's lab on a running cluster: fresh names, recording clients, and what was noted.

Isolation is by fresh topics and transactional ids on a warm cluster, so that a requirement on the wire costs
milliseconds. Partitions get a leader that is not the coordinator of any producer so far, and producers a transactional
id whose coordinator leads none of the partitions so far, so that Produce and EndTxn travel on different links.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from harness.base.addresses import Lane
from harness.base.unprepared import OutOfReach
from harness.cluster.observer_client import observer_client
from harness.contract import Access
from harness.evidence.recorder import Recorder
from harness.evidence.requirement_evidence import Evidence, LogTruth, Step
from harness.kafka.administration import Administration
from harness.kafka.any_broker import AnyBroker
from harness.kafka.belongings import Belongings
from harness.kafka.coordinators import Coordinators
from harness.kafka.leaders.brokers_view import BrokersView
from harness.kafka.routing import RoutingTable
from harness.lab.lane_clients import LaneClients
from harness.lab.leader_reads import LeaderReads
from harness.lab.link_faults import Hold
from harness.lab.observer import Observer
from harness.lab.partition import Group, Partition
from harness.lab.placement import Placement
from harness.lab.powers.beyond_requests.lab_powers import LabPowers
from harness.lab.powers.brokers.moves import Moves
from harness.lab.powers.brokers.nodes import Nodes
from harness.lab.powers.joint_requests import JointRequests
from harness.lab.powers.last_epochs import LAST_EPOCH, LastEpochs
from harness.lab.powers.looks import Looks
from harness.lab.powers.markers import MarkerWriter
from harness.lab.powers.request_gate import RequestGate
from harness.lab.powers.sole_member import Member, joined
from harness.lab.powers.state_log import StateLog
from harness.lab.powers.upgrades.releases import Releases
from harness.lab.powers.users import Grant, Users
from harness.lab.producer import Producer
from harness.lab.progress import Progress
from harness.lab.step_recorder import StepRecorder, Unprepared
from harness.lab.stream_reading import StreamReaders, StreamReading, stream_of
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from harness.wire.wire_client import Offered


@dataclass(slots=True, kw_only=True)
class Lab(LabPowers):
    """What a stimulus drives. Made by ``connect`` in :mod:`harness.run`; closed by it too."""

    offered_by: Mapping[int, Offered]
    requirement: str
    draw: Random
    recorder: Recorder
    readers: StreamReaders
    producers: list[Producer] = field(default_factory=list)
    belongings: Belongings = field(default_factory=Belongings)
    placement: Placement = field(init=False)
    nodes: Nodes = field(init=False)
    moves: Moves = field(init=False)
    _lanes: LaneClients = field(init=False)
    _routing: RoutingTable = field(default_factory=RoutingTable)

    def __post_init__(self) -> None:
        """Nothing is opened and placed yet."""
        self.request_gate = RequestGate(open_gate=self.open_gate, clock=self.clock)
        self._lanes = LaneClients(
            topology=self.cluster.topology,
            offered_by=self.offered_by,
            requirement=self.requirement,
            clock=self.clock,
            recorder=self.recorder,
            notes=self.notes,
            patience=self.patience,
        )
        self.placement = Placement(
            cluster=AnyBroker(self.step_recorder("observer").client, self.cluster.topology.brokers, self.patience),
            belongings=self.belongings,
            requirement=self.requirement,
            draw=self.draw,
            starts=self.notes.starts,
            foreign=self.notes.foreign,
        )
        view = BrokersView(observer_client(self.cluster.topology, self.clock), self.cluster.topology.brokers)
        shared: dict[str, Any] = {"view": view, "now": self.now, "faults": self.notes.faults, "accessed": self.accessed}
        self.nodes = Nodes(cluster=self.cluster, **shared)
        self.moves = Moves(placement=self.placement, producers=self.producers, ask=self._ask_for_change, **shared)

    @property
    def partitions(self) -> Sequence[Partition]:
        """This requirement's, in the order of their making."""
        return self.placement.partitions

    @property
    def groups(self) -> Sequence[Group]:
        """Likewise."""
        return self.placement.groups

    # Partitions, groups, producers

    def partition(
        self, alias: str, *, leader: int | None = None, replicas: int = 1, configs: Mapping[str, str] | None = None
    ) -> Partition:
        """A partition of its own, led by ``leader`` or if possible by a broker away from all coordinators so far.

        :param configs: The settings of its topic.
        :raises Unprepared: See :meth:`harness.lab.placement.Placement.partition`.
        """
        made = self.placement.partition(alias, leader=leader, replicas=replicas, configs=configs)
        self.notes.aliases[str(made)] = alias
        return made

    def group(self, alias: str = "offsets") -> Group:
        """A fresh group; its offsets partition is drained under ``alias``, this requirement's producers alone."""
        made = self.placement.group(alias)
        self.notes.aliases[str(made.offsets)] = alias
        return made

    def member(self, group: Group, partition: Partition) -> AbstractContextManager[Member]:
        """The group's one member for the length of the block; it owns the partition. ``join`` begins a generation."""
        return joined(self.step_recorder("observer"), group, partition)

    def producer(
        self,
        lane: Lane = "victim",
        *,
        protocol: Literal[1, 2] = 1,
        init: bool = True,
        timeout_ms: int = 60_000,
        coordinator: int | None = None,
    ) -> Producer:
        """A producer with a fresh transactional id on its lane, initialised unless ``init`` is False.

        Its coordinator is this broker, where one is given; else one away from the partitions' leaders so far.
        """
        transactional_id, found = self.placement.transactional_id(lane, coordinator)
        return self.same_id(transactional_id, found, lane, protocol=protocol, init=init, timeout_ms=timeout_ms)

    def same_id(
        self,
        transactional_id: str,
        coordinator: int,
        lane: Lane,
        *,
        protocol: Literal[1, 2] = 1,
        init: bool = True,
        timeout_ms: int = 60_000,
    ) -> Producer:
        """Another producer of a known transactional id, as a rival would be."""
        made = Producer(
            step_recorder=self.step_recorder(lane),
            transactional_id=transactional_id,
            coordinator=coordinator,
            protocol=protocol,
        )
        self.producers.append(made)
        self.placement.coordinators.add(coordinator)
        if init:
            made.init(timeout_ms=timeout_ms)
        return made

    @property
    def releases(self) -> Releases:
        """Other releases for single nodes; unless they are put back, nobody uses the cluster after this."""
        return Releases(self, self.nodes, self.step_recorder("observer"), self._lanes.ask_again)

    def near_the_end(
        self,
        *,
        epoch: int = LAST_EPOCH,
        count: int = 1,
        protocol: Literal[1, 2] = 1,
        timeout_ms: int = 60_000,
        coordinator: int | None = None,
    ) -> tuple[Producer, ...]:
        """Producers of one coordinator in this epoch, with nothing open: a second, or minutes (``last_epochs``)."""
        self.accessed.add(Access.LOAD)
        made = [self.producer(protocol=protocol, coordinator=coordinator)]
        made += [self.producer(protocol=protocol, coordinator=made[0].coordinator) for _ in range(count - 1)]
        LastEpochs(self.state_log, self.cluster.owned or self.permissions.load).bring(made, epoch, timeout_ms)
        return tuple(made)

    @property
    def state_log(self) -> StateLog:
        """The coordinators' log, where it may be written to."""
        return StateLog(self.nodes.view, self._lanes.unrecorded, self.cluster.owned)

    @contextmanager
    def committed_reader(self, *partitions: Partition) -> Iterator[StreamReading]:
        """Spark reading these partitions with read_committed over the observer's lane, for the length of the block."""
        if self.permissions.topics:
            raise OutOfReach("a stream reads topics from their beginning, and those that were given are not ours")
        topology, topics = self.cluster.topology, [partition.topic for partition in partitions]
        with stream_of(self.readers, topology.bootstrap("observer"), topics, topology.secured("observer")) as reader:
            yield StreamReading(observer=self.observer, reader=reader, partitions=partitions)

    def user(self, name: str) -> StepRecorder:
        """The requests of a named user (:class:`harness.lab.powers.users.Users`); on clusters with users alone."""
        return self.users.step_recorder(name)

    def grant(self, user: str, *grants: Grant) -> AbstractContextManager[None]:
        """What the user may do for the length of the block, on every broker."""
        self._ask_for_change("granting permissions")
        return self.users.granted(user, *grants)

    @property
    def users(self) -> Users:
        return Users(self._lanes, AnyBroker(self.step_recorder("observer").client, self.cluster.topology.brokers))

    def joint(self, lane: Lane = "victim", *, user: str | None = None) -> JointRequests:
        """Requests about several producers at once, over that lane's client or the user's."""
        return JointRequests(self.step_recorder(lane) if user is None else self.user(user), as_broker=user is None)

    @property
    def observer(self) -> Observer:
        recorder = self.step_recorder("observer")
        return Observer(recorder, LeaderReads(recorder, self.cluster.topology.brokers, self._routing))

    @property
    def admin(self) -> Administration:
        """Changes topics, settings and feature levels, over the observer's lane."""
        client, brokers = self.step_recorder("observer").client, self.cluster.topology.brokers
        return Administration(client, brokers, before_change=self._ask_for_change, patience=self.patience)

    @property
    def write_marker(self) -> MarkerWriter:
        """WriteTxnMarkers, as an operator ends a hanging transaction (KIP-664): to be called, or ``.several(…)``."""
        return MarkerWriter(self.step_recorder("observer"), self._ask_for_change)

    @property
    def looks(self) -> Looks:
        """What any broker says of producers and transactional ids, in charge or not."""
        return Looks(self.step_recorder("observer"))

    def coordinator_epoch(self, producer: Producer) -> int | None:
        """The leader epoch of the ``__transaction_state`` partition that keeps the producer's transactional id.

        None where the server shows no such topic.
        """
        found = Coordinators(self.placement.cluster).key_partition(TRANSACTION_STATE, producer.transactional_id)
        return None if found is None else found[1]

    def offered(self, api: str, versions: Sequence[int], *brokers: int) -> tuple[int, ...]:
        """Those of ``versions`` that these brokers advertise, or every broker."""
        client, asked = self.step_recorder("observer").client, brokers or self.cluster.topology.brokers
        ranges = [client.offered(broker).apis.get(api, (0, -1)) for broker in asked]
        return tuple(v for v in versions if all(low <= v <= high for low, high in ranges))

    def another_broker(self, *others: int) -> int:
        """The first broker that is none of these; :raises OutOfReach: when there is none."""
        self.accessed.add(Access.BROKERS)
        found = [broker for broker in self.cluster.topology.brokers if broker not in others]
        if not found:
            raise OutOfReach(f"the cluster has no broker beside {', '.join(map(str, sorted(set(others))))}")
        return found[0]

    @contextmanager
    def preparing(
        self,
        txn: Producer,
        partition: Partition,
        *,
        commit: bool,
        name: str = "markers",
        as_: str | None = "end",
        version: int | None = None,
    ) -> Iterator[Hold]:
        """End the transaction while its markers to ``partition`` are held: it stays in PrepareCommit or PrepareAbort.

        Just before the release the partition is sampled under ``name``; the check demands by ``expect.prepared`` that
        the transaction was still open then. The markers come at the end of the block, or at ``release`` within it.

        :param as_: The name of the EndTxn step.
        :raises Unprepared: When no link between the two brokers can be held.
        """
        with self.hold(self.link(txn.coordinator, partition.leader), name=name) as held:
            held.before_release = lambda: self.sample(name, partition)
            txn.end(commit=commit, version=version, as_=as_)
            yield held

    # Evidence

    def sample(self, name: str, *partitions: Partition) -> None:
        """High watermark and last stable offset now, of all partitions or of these, under a name."""
        for partition in partitions or self.partitions:
            self.observer.sample(partition, name)

    def completed(self, *partitions: Partition, timeout_seconds: float | None = None) -> None:
        """Wait until no transaction is open on these partitions (or any): their markers are written.

        :raises TimedOut: When one is still open.
        """
        self._progress.complete(partitions or self.partitions, timeout_seconds)

    def settled(self) -> bool:
        """Wait, bounded, until no transaction is open on any partition; whether that came about."""
        return self._progress.settle(self.partitions)

    def passed(self, partition: Partition, offset: int) -> None:
        """Wait, bounded, until readers are past ``offset``: what was open there is over. The check judges where not."""
        self._progress.pass_by(partition, offset)

    def reached(self, producer: Producer, *states: str, as_: str, timeout_seconds: float | None = None) -> Step:
        """Wait, bounded, until the coordinator keeps one of ``states`` for the id; the last answer is the step.

        The coordinator changes its state a moment after the markers can be read, so its state is waited for. When the
        bound is over, the answer with another state is noted all the same: the check judges it.

        :param timeout_seconds: A bound that the promise itself names; None: the lab's, by its patience.
        """
        return self._progress.reach(producer, states, self.partitions, as_=as_, timeout_seconds=timeout_seconds)

    @property
    def _progress(self) -> Progress:
        return Progress(self.observer, self.patience)

    def unless(self, ready: Callable[[], bool], why_not: str) -> None:
        """Go on only when the situation is there; :raises Unprepared: with ``why_not`` when it is not."""
        if not ready():
            raise Unprepared(why_not)

    def drained(self) -> Mapping[str, LogTruth]:
        """Every partition of this requirement, raw and as a read_committed client sees it, then the groups' offsets."""
        written = {partition.alias: self.observer.log(partition) for partition in self.partitions}
        ids = {producer.producer_id for producer in self.producers}
        kept = [group for group in self.groups if group.offsets.known]
        return written | {group.offsets.alias: self.observer.offsets(group, ids) for group in kept}

    def evidence(
        self, logs: Mapping[str, LogTruth], *, unprepared: str | None = None, out_of_reach: bool = False
    ) -> Evidence:
        return self.notes.evidence(logs, unprepared=unprepared, out_of_reach=out_of_reach)

    def tidy(self) -> None:
        """Delete the topics and groups of this requirement; for a cluster that lives on without us."""
        self.placement.end()

    def close(self) -> None:
        """Close every client; requests without an answer are recorded as such."""
        self.nodes.view.client.close()
        self._lanes.close()

    def step_recorder(self, lane: Lane) -> StepRecorder:
        """The lane's one client, opened at first use."""
        return self._lanes.step_recorder(lane)
