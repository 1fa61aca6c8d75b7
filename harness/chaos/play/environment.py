"""What all rounds of a chaos session share: one running cluster and one Spark JVM, opened at first use.

The cluster serves every round until one leaves it unusable (a broker that stays away, a replica that does not catch
up); then the next round gets a fresh one, and the folder notes it.
"""

import secrets
from dataclasses import dataclass, field

from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.clients.client import Adapter
from harness.cluster.cluster import Cluster
from harness.cluster.opening import choose_backend, open_cluster
from harness.cluster.run_options import RunOptions
from harness.cluster.target import parse_target
from harness.evidence.recorder import NullRecorder
from harness.faults.fault_target import FaultTarget
from harness.faults.gate.gate import open_gate
from harness.kafka.target_features import TargetFeatures, read_target_features
from harness.spark.session.spark_session import SparkHandle, open_session
from harness.wire.wire_client import WireClient


@dataclass(slots=True, kw_only=True)
class Environment:
    """The running cluster and Spark; end them by :meth:`close`.

    :param described: The cluster's part of ``run.json``.
    :param features: What the target's brokers offer.
    """

    wanted: RunOptions
    spark_master: str = "local[*]"
    described: dict[str, Json] = field(default_factory=dict)
    features: TargetFeatures | None = None
    _cluster: Cluster | None = None
    _spark: SparkHandle | None = None
    _clusters: int = 0
    _rounds: int = 0
    _session_name: str = field(default_factory=lambda: secrets.token_hex(3))

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
        assert self._cluster is not None
        return self._cluster

    def next_round(self) -> str:
        """A name that no other round of this or another session has."""
        self._rounds += 1
        return f"{self._session_name}{self._rounds}"

    def lacking(self, adapter: Adapter) -> str | None:
        """What the target lacks for this client; None when it lacks nothing."""
        assert self.features is not None
        lacks = (adapter.lacking(offered) for offered in self.features.brokers.values())
        return next((lack for lack in lacks if lack), None)

    def fault_target(self, topics: dict[str, str], transactional_ids: dict[str, str]) -> FaultTarget:
        """The cluster for one round's toxics, on a clock of its own; close it after the round."""
        cluster, clock = self.open(), RunClock()
        observer = WireClient(
            actor="observer",
            lane="observer",
            addresses=cluster.topology.lanes["observer"],
            clock=clock,
            recorder=NullRecorder(),
            offered=self.features.brokers if self.features else None,
            security=cluster.topology.secured("observer"),
        )
        return FaultTarget(
            cluster=cluster,
            clock=clock,
            client=observer,
            topics=topics,
            transactional_ids=transactional_ids,
            open_gate=open_gate,
        )

    def replace_cluster(self, why: str) -> None:
        """End the cluster; the next round opens another. A cluster that is not ours is kept."""
        if self._cluster is not None and self._cluster.owned:
            self.wanted.progress(f"the next round gets a fresh cluster: {why}")
            self._cluster.close()
            self._cluster = None

    def start_afresh(self, why: str) -> None:
        """End the cluster, where it is ours, and Spark; the next round opens others."""
        self.replace_cluster(why)
        spark, self._spark = self._spark, None
        if spark is not None:
            spark.close(in_order=False)

    def close(self) -> None:
        """End the cluster and Spark. May be called twice."""
        cluster, self._cluster = self._cluster, None
        spark, self._spark = self._spark, None
        try:
            if cluster is not None:
                cluster.close()
        finally:
            if spark is not None:
                spark.close()

    def _open(self) -> None:
        wanted, target = self.wanted, parse_target(self.wanted.target)
        choice = choose_backend(target, wanted.backend)
        wanted.progress(f"{target} on the {choice.backend} backend ({choice.why})")
        self._clusters += 1
        folder = wanted.folder / f"cluster-{self._clusters}"
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        self._cluster = open_cluster(
            target, backend=wanted.backend, options=wanted.cluster, run_dir=folder, progress=wanted.progress
        )
        self.features = read_target_features(self._cluster, RunClock(), NullRecorder())
        described = self.features.described(self._cluster)
        self.described = {**described, "backend_why": choice.why, "logs": folder.name}
