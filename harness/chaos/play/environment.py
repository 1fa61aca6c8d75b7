"""What all rounds of a chaos session share: one running cluster and one Spark JVM, opened at first use.

The cluster serves every round until one leaves it unusable (a broker that stays away, a replica that does not catch
up); then the next round gets a fresh one, and the folder notes it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.chaos.plan.scenario import COMMON, ScenarioCluster
from harness.chaos.play.within_reach import reach_of, sentences
from harness.clients.client import Adapter
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.cluster.cluster import Cluster, Links
from harness.cluster.observer_client import observer_client
from harness.cluster.opening import choose_backend, open_cluster, why_not_made
from harness.cluster.run_options import RunOptions
from harness.cluster.target import External, parse_target
from harness.evidence.recorder import NullRecorder
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_gate import FrameGate
from harness.faults.gate.gate import open_gate, open_lane_gate
from harness.faults.gate.reading_lane import ReadingLane, open_reading_lane
from harness.faults.running_clients import ClientProcesses
from harness.faults.toxic import ToxicReach
from harness.kafka.any_broker import AnyBroker
from harness.kafka.belongings import Belongings
from harness.kafka.targets.target_features import TargetFeatures, read_target_features
from harness.machine.run_processes import RunProcesses, open_run_processes
from harness.spark.session.spark_session import SparkHandle, open_session
from harness.wire.offered import Offered
from harness.wire.wire_client import WireClient

PRODUCER_EXPIRATION = "producer.id.expiration.ms"
TIDY_SECONDS, TIDY_AGAIN_SECONDS = 10.0, 0.5
"""That removing what is ours may take at the end, and between two tries."""


@dataclass(slots=True, kw_only=True)
class Environment:
    """The running cluster and Spark; end them by :meth:`close`.

    :param programs: What starts each client that is a process of its own, by the name that scenarios give it.
    :param opened: Is given each cluster once it is up.
    :param described: The cluster's part of ``run.json``.
    :param features: What the target's brokers offer.
    :param belongings: What of ours is on the cluster.
    """

    wanted: RunOptions
    spark_master: str = "local[*]"
    programs: Mapping[str, AdapterCommand] = field(default_factory=dict)
    opened: Callable[[Cluster], object] = bool
    described: dict[str, Json] = field(default_factory=dict)
    features: TargetFeatures | None = None
    _cluster: Cluster | None = None
    _spark: SparkHandle | None = None
    _asked: ScenarioCluster = COMMON
    _clusters: int = 0
    _rounds: int = 0
    _told: set[str] = field(default_factory=set)
    _reading: ReadingLane | None = None
    _client_run: RunProcesses | None = None
    belongings: Belongings = field(init=False)

    def __post_init__(self) -> None:
        """Names of ours begin as the caller wants it."""
        self.belongings = Belongings(permissions=self.wanted.permissions)

    @property
    def spark(self) -> SparkHandle:
        """Spark, started at first use.

        :raises UserError: When Java or Maven is missing, or the master does not answer.
        """
        if self._spark is None:
            self.wanted.folder.mkdir(parents=True, exist_ok=True)
            self.wanted.progress(f"starting Spark on {self.spark_master}")
            self._spark = open_session(
                name="fencepost-chaos",
                master=self.spark_master,
                log=self.wanted.folder / "spark.log",
                progress=self.wanted.progress,
            )
        return self._spark

    def open(self) -> Cluster:
        """The cluster, started at first use and after a round that left the last one unusable.

        :raises UserError: When it cannot be started.
        """
        if self._cluster is None:
            self._open()
        if self._client_run is None and self.programs:
            self._client_run = open_run_processes()
        assert self._cluster is not None
        return self._cluster

    @property
    def running(self) -> Cluster | None:
        """The cluster, where one is up."""
        return self._cluster

    def open_for(self, asked: ScenarioCluster) -> Cluster:
        """The cluster as a scenario asks for it, where the target can be started so; else the common one.

        :raises UserError: When it cannot be started.
        """
        asked = self._granted(asked)
        if asked != self._asked:
            self.replace_cluster(f"it asks for {str(asked) or 'the common one'}")
            self._asked = asked
        return self.open()

    def next_round(self, seed: int) -> str:
        """What the names of all of a round's topics, groups and ids begin with; no other round's do."""
        self._rounds += 1
        return self.belongings.name(str(self._rounds), str(seed))

    @property
    def reading(self) -> ReadingLane:
        """Where librdkafka and Spark read."""
        if self._reading is None:
            self._reading = open_reading_lane(self.open())
        return self._reading

    @property
    def keeps_producers(self) -> bool:
        """Whether leaders certainly forget no producer within a round; by default they keep one for a day (KIP-854)."""
        properties = {**self.wanted.cluster.properties, **self._asked.properties}
        return self.open().owned and PRODUCER_EXPIRATION not in properties

    @property
    def lasting_offers(self) -> Mapping[int, Offered]:
        """What brokers advertise, and go on to advertise where nobody upgrades them; none of a cluster not ours."""
        return self.features.brokers if self.features is not None and self.open().owned else {}

    def record_client(self, pid: int) -> None:
        """Have a client's process ended should Fencepost be killed."""
        assert self._client_run is not None
        self._client_run.record(pid)

    @property
    def reach(self) -> frozenset[ToxicReach]:
        """What toxics may act on."""
        return self._reach(self._asked, controllers=None)

    def reach_for(self, asked: ScenarioCluster) -> frozenset[ToxicReach]:
        """Likewise on the cluster that a scenario would get which asks for this; one must be running."""
        granted = self._granted(asked)
        return self._reach(granted, controllers=granted.controllers if self.open().owned else None)

    def _reach(self, asked: ScenarioCluster, controllers: int | None) -> frozenset[ToxicReach]:
        clients, settings = bool(self.programs), bool(asked.properties)
        return reach_of(
            self.open(), self.wanted.permissions, clients=clients, settings=settings, controllers=controllers
        )

    def tell_out_of_reach(self, lost: Mapping[str, str]) -> None:
        """Say of each toxic once in a session why it does not strike; ``lost`` is the reason by the toxic's name."""
        fresh = {name: why for name, why in lost.items() if name not in self._told}
        self._told.update(fresh)
        for sentence in sentences(fresh):
            self.wanted.progress(sentence)

    def tidy(self, client: WireClient) -> None:
        """Remove what is ours from a cluster that lives on; what cannot be removed now is tried again at the end."""
        cluster = self.open()
        if not cluster.owned:
            self.belongings.remove_all(AnyBroker(client, cluster.topology.brokers))

    def lacking(self, adapter: Adapter) -> str | None:
        """What the target lacks for this client; None when it lacks nothing."""
        assert self.features is not None
        lacks = (adapter.lacking(offered) for offered in self.features.brokers.values())
        return next((lack for lack in lacks if lack), None)

    def fault_target(
        self, topics: dict[str, str], transactional_ids: dict[str, str], clients: ClientProcesses
    ) -> FaultTarget:
        """The cluster for one round's toxics, on a clock of its own; close it after the round."""
        cluster, clock = self.open(), RunClock()
        return FaultTarget(
            cluster=cluster,
            clock=clock,
            client=self._observer(cluster, clock),
            topics=topics,
            transactional_ids=transactional_ids,
            open_gate=self._open_gate,
            clients=clients if self.programs else None,
        )

    def replace_cluster(self, why: str) -> None:
        """End the cluster; the next round opens another. A cluster that is not ours is kept."""
        if self._cluster is not None and self._cluster.owned:
            self.wanted.progress(f"the next round gets a fresh cluster: {why}")
            self._close_reading()
            self._cluster.close()
            self._cluster = None

    def start_afresh(self, why: str) -> None:
        """End the cluster, where it is ours, and Spark; the next round opens others."""
        self.replace_cluster(why)
        spark, self._spark = self._spark, None
        if spark is not None:
            spark.close(in_order=False)

    def close(self) -> None:
        """End the cluster, Spark and what watches over clients. May be called twice."""
        clients, self._client_run = self._client_run, None
        if clients is not None:
            clients.close()
        cluster, self._cluster = self._cluster, None
        spark, self._spark = self._spark, None
        try:
            if cluster is not None:
                self._leave(cluster)
        finally:
            if spark is not None:
                spark.close()

    def _leave(self, cluster: Cluster) -> None:
        """End what is ours; of a cluster that lives on, say what stays there."""
        try:
            if not cluster.owned:
                self._tidy_at_last(cluster)
        finally:
            self._close_reading()
            cluster.close()

    def _close_reading(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.close()

    def _granted(self, asked: ScenarioCluster) -> ScenarioCluster:
        """What is asked for, where the target can be started so, else what is common."""
        target, options = parse_target(self.wanted.target), asked.of(self.wanted.cluster)
        can_be = not isinstance(target, External) and why_not_made(target, self.wanted.backend, options) is None
        return asked if can_be else COMMON

    def _tidy_at_last(self, cluster: Cluster) -> None:
        """A group whose last member was killed can be removed when its session is over."""
        client = self._observer(cluster, RunClock())

        def removed() -> bool:
            self.belongings.remove_all(AnyBroker(client, cluster.topology.brokers))
            return not self.belongings.topics and not self.belongings.groups

        try:
            wait.elapsed_ms_until(removed, timeout_seconds=TIDY_SECONDS, interval_seconds=TIDY_AGAIN_SECONDS)
        finally:
            client.close()
        for sentence in self.belongings.left():
            self.wanted.progress(sentence)

    def _observer(self, cluster: Cluster, clock: RunClock) -> WireClient:
        return observer_client(cluster.topology, clock, offered=self.features.brokers if self.features else None)

    def _open_gate(self, links: Links) -> FrameGate:
        """Before a cluster that is not ours it stands behind every lane, because only so a lane can be a lane."""
        cluster = self.open()
        return open_gate(links) if cluster.owned else open_lane_gate(cluster)

    def _open(self) -> None:
        wanted, target = self.wanted, parse_target(self.wanted.target)
        choice = choose_backend(target, wanted.backend)
        wanted.progress(f"{target} on the {choice.backend} backend ({choice.why})")
        self._clusters += 1
        folder = wanted.folder / f"cluster-{self._clusters}"
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        self._cluster = open_cluster(
            target,
            backend=wanted.backend,
            options=self._asked.of(wanted.cluster),
            run_dir=folder,
            progress=wanted.progress,
        )
        self.features = read_target_features(self._cluster, RunClock(), NullRecorder())
        described = self.features.described(self._cluster)
        self.described = {**described, "backend_why": choice.why, "logs": folder.name}
        self.opened(self._cluster)
