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

from harness.base import wait
from harness.base.addresses import LANES, Lane
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.unprepared import OutOfReach
from harness.cluster.cluster import BreakCode, Cluster, Links
from harness.cluster.run_options import Permissions
from harness.contract import Access
from harness.evidence.recorder import Recorder
from harness.evidence.requirement_evidence import Evidence, LogTruth, Step
from harness.kafka.administration import Administration
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.group import CONSUMER_OFFSETS, Group
from harness.lab.link_faults import Hold, cutting, holding
from harness.lab.observer import Observer
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.lab.step_recorder import StepRecorder, Unprepared
from harness.lab.stream_reading import StreamReaders, StreamReading, stream_of
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from harness.wire.requests.groups.find_coordinator import GROUP
from harness.wire.requests.transactions.write_txn_markers import WriteTxnMarkers
from harness.wire.wire_client import Offered, WireClient

DRAWS = 50
"""Transactional ids drawn before a coordinator away from the partitions' leaders is given up."""


@dataclass(slots=True, kw_only=True)
class Lab:
    """What a stimulus drives. Made by ``connect`` in :mod:`harness.run`; closed by it too."""

    cluster: Cluster
    offered_by: Mapping[int, Offered]
    requirement: str
    draw: Random
    clock: RunClock
    recorder: Recorder
    readers: StreamReaders
    notes: EvidenceBuilder = field(default_factory=EvidenceBuilder)
    partitions: list[Partition] = field(default_factory=list)
    producers: list[Producer] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    permissions: Permissions = field(default_factory=Permissions)
    accessed: set[Access] = field(default_factory=set)
    _askers: dict[Lane, StepRecorder] = field(default_factory=dict)

    # Partitions, groups, producers

    def partition(
        self, alias: str, *, leader: int | None = None, replicas: int = 1, configs: Mapping[str, str] | None = None
    ) -> Partition:
        """A fresh topic of one partition, led by ``leader`` or by a broker away from all coordinators so far."""
        brokers = self.cluster.topology.brokers
        led_by = leader if leader is not None else self._quiet_broker()
        others = [broker for broker in brokers if broker != led_by]
        topic = f"{self.requirement.lower()}-{alias.lower()}-{self.draw.randrange(16**8):08x}"
        topic_id = self.admin.create_topic(topic, {0: (led_by, *others[: replicas - 1])}, configs)
        made = Partition(alias=alias, topic=topic, index=0, leader=led_by, topic_id=topic_id)
        self.notes.aliases[str(made)] = alias
        self.partitions.append(made)
        return made

    def group(self, alias: str = "offsets") -> Group:
        """A fresh group; its offsets partition is drained under ``alias``, this requirement's producers alone."""
        name = f"{self.requirement.lower()}-group-{self.draw.randrange(16**8):08x}"
        leader = self.admin.coordinator(name, key_type=GROUP)
        index, _ = self.admin.key_partition(CONSUMER_OFFSETS, name)
        offsets = Partition(alias=alias, topic=CONSUMER_OFFSETS, index=index, leader=leader)
        self.notes.aliases[str(offsets)] = alias
        made = Group(name=name, offsets=offsets)
        self.groups.append(made)
        return made

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
        transactional_id, found = self._transactional_id(lane, coordinator)
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
        if init:
            made.init(timeout_ms=timeout_ms)
        return made

    @contextmanager
    def committed_reader(self, *partitions: Partition) -> Iterator[StreamReading]:
        """Spark reading these partitions with read_committed over the observer's lane, for the length of the block."""
        bootstrap, topics = self.cluster.topology.bootstrap("observer"), [partition.topic for partition in partitions]
        with stream_of(self.readers, bootstrap, topics) as reader:
            yield StreamReading(observer=self.observer, reader=reader, partitions=partitions)

    @property
    def observer(self) -> Observer:
        return Observer(self.step_recorder("observer"))

    @property
    def admin(self) -> Administration:
        """Changes topics, settings and feature levels, over the observer's lane."""
        client, brokers = self.step_recorder("observer").client, self.cluster.topology.brokers
        return Administration(client, brokers, before_change=self._ask_for_change)

    def _ask_for_change(self, what: str) -> None:
        """:raises OutOfReach: When the cluster is not ours and changes are not allowed."""
        self.accessed.add(Access.CHANGES)
        if not self.cluster.owned and not self.permissions.changes:
            raise OutOfReach(f"{what} needs --allow-changes on a cluster that is not ours")

    def write_marker(
        self,
        partition: Partition,
        *,
        producer_id: int,
        epoch: int,
        commit: bool,
        coordinator_epoch: int = 0,
        version: int | None = None,
        as_: str | None = None,
    ) -> Step:
        """WriteTxnMarkers to the partition's leader, as an operator ends a hanging transaction (KIP-664)."""
        self._ask_for_change("writing a marker")
        fields: dict[str, Any] = {
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "committed": commit,
            "coordinator_epoch": coordinator_epoch,
        }
        request, recorder = (
            WriteTxnMarkers(partitions=(partition.topic_partition,), **fields),
            self.step_recorder("observer"),
        )
        used = recorder.client.highest(partition.leader, request.api) if version is None else version
        return recorder.ask(partition.leader, request, used, as_=as_, request={"partition": str(partition), **fields})

    def coordinator_epoch(self, producer: Producer) -> int:
        """The leader epoch of the ``__transaction_state`` partition that keeps the producer's transactional id."""
        return self.admin.key_partition(TRANSACTION_STATE, producer.transactional_id)[1]

    def offered(self, api: str, versions: Sequence[int]) -> tuple[int, ...]:
        """Those of ``versions`` that every broker advertises."""
        client = self.step_recorder("observer").client
        ranges = [client.offered(broker).apis.get(api, (0, -1)) for broker in self.cluster.topology.brokers]
        return tuple(v for v in versions if all(low <= v <= high for low, high in ranges))

    def another_broker(self, *others: int) -> int:
        """The first broker that is none of these; :raises OutOfReach: when there is none."""
        self.accessed.add(Access.BROKERS)
        found = [broker for broker in self.cluster.topology.brokers if broker not in others]
        if not found:
            raise OutOfReach(f"the cluster has no broker beside {', '.join(map(str, sorted(set(others))))}")
        return found[0]

    # Faults

    @property
    def links(self) -> Links:
        """The cluster's proxies; :raises OutOfReach: when there are none."""
        if self.cluster.links is None:
            raise OutOfReach("no proxies stand before this cluster, so nothing can be held")
        return self.cluster.links

    def link(self, source: int, target: int) -> str:
        """The proxy that carries what broker ``source`` asks of ``target``; :raises OutOfReach: when there is none."""
        self.accessed.add(Access.LINKS)
        if proxy := self.cluster.topology.links.get((source, target)):
            return proxy
        raise OutOfReach("no proxies stand between these brokers, so no link between them can be held")

    def hold(self, proxy: str, *, name: str) -> AbstractContextManager[Hold]:
        """Hold what is sent through ``proxy`` (a link or a lane) for the block, or until ``release`` within it.

        :raises Unprepared: When there is no proxy.
        """
        self._note_access(proxy)
        return holding(self.links, proxy, name=name, now=self.now, faults=self.notes.faults)

    def cut(self, proxy: str, *, name: str) -> AbstractContextManager[None]:
        """Cut ``proxy`` (a link or a lane) for the block; :raises Unprepared: when there is no proxy."""
        self._note_access(proxy)
        return cutting(self.links, proxy, name=name, now=self.now, faults=self.notes.faults)

    def _note_access(self, proxy: str) -> None:
        self.accessed.add(Access.LINKS if proxy in self.cluster.topology.links.values() else Access.LANES)

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

    @contextmanager
    def broken(self, rules: str) -> Iterator[None]:
        """Byteman rules in every node for the length of the block; only for negative controls."""
        if not isinstance(self.cluster, BreakCode):
            raise Unprepared("this cluster cannot load failpoints")
        self.cluster.load_rules(rules)
        try:
            yield
        finally:
            self.cluster.unload_rules()

    # Evidence

    def sample(self, name: str, *partitions: Partition) -> None:
        """High watermark and last stable offset now, of all partitions or of these, under a name."""
        for partition in partitions or self.partitions:
            self.observer.sample(partition, name)

    def completed(self, *partitions: Partition, timeout_seconds: float = 5.0) -> None:
        """Wait until no transaction is open on these partitions (or any): their markers are written.

        :raises TimedOut: When one is still open.
        """
        wait.until(
            lambda: all(map(self._stable, partitions or self.partitions)),
            what="last stable offset = high watermark",
            timeout_seconds=timeout_seconds,
        )

    def passed(self, partition: Partition, offset: int, *, timeout_seconds: float = 5.0) -> None:
        """Wait, bounded, until readers are past ``offset``: what was open there is over. The check judges where not."""

        def beyond() -> bool:
            return self.observer.sample(partition).last_stable_offset > offset

        wait.elapsed_ms_until(beyond, timeout_seconds=timeout_seconds)

    def reached(self, producer: Producer, *states: str, as_: str, timeout_seconds: float = 5.0) -> Step:
        """Wait, bounded, until the coordinator keeps one of ``states`` for the id; the last answer is the step.

        The coordinator changes its state a moment after the markers can be read, so its state is waited for. When the
        bound is over, the answer with another state is noted all the same: the check judges it. Where the broker cannot
        be asked, it is waited until nothing is open on this requirement's partitions, if the state is a completed one.
        """
        if not self.observer.describes_transactions(producer.coordinator):
            if all(state.startswith("Complete") for state in states):
                wait.elapsed_ms_until(self._all_stable, timeout_seconds=timeout_seconds)
            return self.observer.transaction(producer.transactional_id, producer.coordinator, as_=as_)

        def fits() -> bool:
            return self.observer.state(producer.transactional_id, producer.coordinator) in states

        wait.elapsed_ms_until(fits, timeout_seconds=timeout_seconds)
        return self.observer.transaction(producer.transactional_id, producer.coordinator, as_=as_)

    def note(self, name: str, value: Json) -> None:
        """A plain fact for the check, partitions under their short names."""
        self.notes.facts[name] = self.notes.shorten(value)

    def unless(self, ready: Callable[[], bool], why_not: str) -> None:
        """Go on only when the situation is there; :raises Unprepared: with ``why_not`` when it is not."""
        if not ready():
            raise Unprepared(why_not)

    def drained(self) -> Mapping[str, LogTruth]:
        """Every partition of this requirement, raw and as a read_committed client sees it, then the groups' offsets."""
        written = {partition.alias: self.observer.log(partition) for partition in self.partitions}
        ids = {producer.producer_id for producer in self.producers}
        return written | {group.offsets.alias: self.observer.offsets(group, ids) for group in self.groups}

    def evidence(
        self, logs: Mapping[str, LogTruth], *, unprepared: str | None = None, out_of_reach: bool = False
    ) -> Evidence:
        return self.notes.evidence(logs, unprepared=unprepared, out_of_reach=out_of_reach)

    def tidy(self) -> None:
        """Delete the topics of this requirement; for a cluster that lives on without us."""
        if topics := [partition.topic for partition in self.partitions]:
            self.admin.delete_topics(topics)

    def now(self) -> float:
        return self.clock.now()

    def close(self) -> None:
        """Close every client; requests without an answer are recorded as such."""
        for step_recorder in self._askers.values():
            step_recorder.client.close()

    def step_recorder(self, lane: Lane) -> StepRecorder:
        """The lane's one client, opened at first use."""
        if lane not in self._askers:
            assert lane in LANES
            self._askers[lane] = StepRecorder(lane, self._client(lane), self.notes, self.clock, self._proxies(lane))
        return self._askers[lane]

    def _all_stable(self) -> bool:
        return all(map(self._stable, self.partitions))

    def _stable(self, partition: Partition) -> bool:
        sample = self.observer.sample(partition)
        return sample.last_stable_offset == sample.high_watermark

    def _client(self, lane: Lane) -> WireClient:
        return WireClient(
            actor=lane,
            lane=lane,
            addresses=self.cluster.topology.lanes[lane],
            clock=self.clock,
            recorder=self.recorder,
            requirement=self.requirement,
            offered=self.offered_by,
        )

    def _proxies(self, lane: Lane) -> Mapping[int, str]:
        return {node: proxy for (of, node), proxy in self.cluster.topology.lane_proxies.items() if of == lane}

    def _quiet_broker(self) -> int:
        brokers = self.cluster.topology.brokers
        busy = {producer.coordinator for producer in self.producers}
        leading = {partition.leader for partition in self.partitions}
        return min(brokers, key=lambda broker: (broker in busy, broker in leading, self.draw.random()))

    def _transactional_id(self, lane: Lane, wanted: int | None) -> tuple[str, int]:
        leading = {partition.leader for partition in self.partitions}
        brokers = set(self.cluster.topology.brokers)
        fitting = {wanted} if wanted is not None else (brokers - leading or brokers)
        for _ in range(DRAWS):
            drawn = f"{self.requirement.lower()}-{lane}-{self.draw.randrange(16**8):08x}"
            coordinator = self.admin.coordinator(drawn)
            if coordinator in fitting:
                break
        self.unless(lambda: wanted in (None, coordinator), f"{DRAWS} drawn ids, none coordinated by broker {wanted}")
        return drawn, coordinator
