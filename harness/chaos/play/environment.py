"""What a session of chaos stands on: the warm cluster and one Spark JVM; opened at first use, ended in any case.

The cluster serves every round until a round leaves it unfit (a broker away for good, a replica that does not come
back); then the next round gets a fresh one, and the folder says so.
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
from harness.kafka.target_features import TargetFeatures, read_target_features
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.step_recorder import StepRecorder
from harness.spark.session.spark_session import SparkHandle, open_session
from harness.wire.wire_client import WireClient


@dataclass(slots=True, kw_only=True)
class Environment:
    """See the module's docstring; end it by :meth:`close`."""

    wanted: RunOptions
    spark_master: str = "local[*]"
    described: dict[str, Json] = field(default_factory=dict)
    offer: TargetFeatures | None = None
    _cluster: Cluster | None = None
    _spark: SparkHandle | None = None
    _clusters: int = 0
    _rounds: int = 0
    _word: str = field(default_factory=lambda: secrets.token_hex(3))

    @property
    def spark(self) -> SparkHandle:
        """Spark, started at first use.

        :raises Trouble: When Java or Maven is missing, or the master does not answer.
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
        """The cluster, started at first use and after a round that left the last one unfit; Spark beside it.

        :raises Trouble: When either cannot be had.
        """
        if self._cluster is None:
            self._open()
        assert self._cluster is not None
        return self._cluster

    def next_round(self) -> str:
        """A word that no other round of this or another session has in its names."""
        self._rounds += 1
        return f"{self._word}{self._rounds}"

    def lacking(self, adapter: Adapter) -> str | None:
        """What the target lacks for this client; None when nothing."""
        assert self.offer is not None
        lacks = (adapter.lacking(offered) for offered in self.offer.brokers.values())
        return next((lack for lack in lacks if lack), None)

    def fault_target(self, topics: dict[str, str], transactional_ids: dict[str, str]) -> FaultTarget:
        """Where one round's toxics strike, on a clock of its own; close it after the round."""
        cluster, clock = self.open(), RunClock()
        observer = WireClient(
            actor="observer",
            lane="observer",
            addresses=cluster.topology.lanes["observer"],
            clock=clock,
            recorder=NullRecorder(),
            offered=self.offer.brokers if self.offer else None,
        )
        asker = StepRecorder("observer", observer, EvidenceBuilder(), clock, {})
        return FaultTarget(
            cluster=cluster, clock=clock, asker=asker, topics=topics, transactional_ids=transactional_ids
        )

    def replace_cluster(self, why: str) -> None:
        """End the cluster; the next round opens another. A cluster that is not ours is kept."""
        if self._cluster is not None and self._cluster.backend != "external":
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
        place = wanted.folder / f"cluster-{self._clusters}"
        (place / "logs").mkdir(parents=True, exist_ok=True)
        self._cluster = open_cluster(
            target, backend=wanted.backend, options=wanted.cluster, run_dir=place, progress=wanted.progress
        )
        self.offer = read_target_features(self._cluster, RunClock(), NullRecorder())
        described = self.offer.described(self._cluster)
        self.described = {**described, "backend_why": choice.why, "logs": place.name}
