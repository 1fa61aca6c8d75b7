"""The administrator: topics with a chosen leader, settings and feature levels, over Kafka's own protocol.

These are what any Kafka offers, so they need no power of the backend; settings and levels are set back on leaving the
block, whatever happened in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from uuid import UUID

from harness.base import wait
from harness.base.json_value import Json
from harness.base.kafka_error import error_name
from harness.evidence.requirement_evidence import Step
from harness.lab.partition import Partition
from harness.lab.step_recorder import RETRIABLE, ResultT, StepRecorder, Unprepared
from harness.wire.api_request import ApiRequest
from harness.wire.records.transaction_state import state_partition
from harness.wire.requests.cluster.create_topic import CreateTopic
from harness.wire.requests.cluster.delete_topics import DeleteTopics
from harness.wire.requests.cluster.describe_configs import DescribeConfigs
from harness.wire.requests.cluster.incremental_alter_configs import IncrementalAlterConfigs
from harness.wire.requests.cluster.metadata import Metadata, PartitionMetadata
from harness.wire.requests.cluster.update_features import UpdateFeatures
from harness.wire.requests.groups.find_coordinator import TRANSACTION, FindCoordinator
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.transactions.write_txn_markers import WriteTxnMarkers

BROKER = 4
"""Config resource type of a broker (``ConfigResource.Type``)."""
VERIFICATION = "transaction.partition.verification.enable"
"""The switch of KIP-890's defence for old clients; older brokers have neither the switch nor the defence."""
UPGRADE, SAFE_DOWNGRADE = 1, 2
PROPAGATION = 10.0
"""Seconds within which a metadata change must have reached every broker."""


@dataclass(frozen=True, slots=True)
class Admin:
    """Changes that an administrator may make, and the questions that go with them."""

    asker: StepRecorder
    brokers: Sequence[int]

    def create_topic(
        self, name: str, assignment: Mapping[int, tuple[int, ...]], configs: Mapping[str, str] | None = None
    ) -> UUID | None:
        """A topic whose partition ``i`` has the replicas ``assignment[i]``, leader first; returns when it serves."""
        verb = CreateTopic(name=name, assignment=assignment, configs=dict(configs or {}))
        result = self._do(self.brokers[0], verb)
        for index, replicas in assignment.items():
            wait.until(
                lambda index=index, leader=replicas[0]: self._serves(name, index, leader),  # type: ignore[misc]
                what=f"topic {name}-{index} on broker {replicas[0]}",
                within=PROPAGATION,
                every=0.002,
            )
        return UUID(result.topic_id) if result.topic_id else None

    def delete_topics(self, names: Sequence[str]) -> None:
        """Delete them; returns when the controller has accepted it."""
        self._do(self.brokers[0], DeleteTopics(topics=tuple(names)))

    def coordinator(self, key: str, key_type: int = TRANSACTION) -> int:
        """The broker that coordinates the transactional id, or the group with key type ``GROUP`` (FindCoordinator)."""

        def found() -> int | None:
            node = self.brokers[0]
            version = self.asker.client.highest(node, "FindCoordinator")
            result = self.asker.client.call(node, FindCoordinator(key=key, key_type=key_type), version).result
            if result.error and result.error not in RETRIABLE:
                raise Unprepared(f"FindCoordinator answered {error_name(result.error)} ({result.error})")
            return result.node if result.error == 0 else None

        return wait.until(found, what=f"a coordinator of {key}", within=PROPAGATION, every=0.02)

    def leader(self, topic: str, index: int) -> int | None:
        """The partition's leader as broker metadata has it, or None while it has none."""
        leader = self._places(topic)[index]["leader"]
        return leader if leader >= 0 else None

    def home(self, topic: str, key: str) -> tuple[int, int]:
        """Index and leader epoch of the partition of an internal topic that keeps ``key`` (groups as ids: one hash)."""
        places = self._places(topic)
        index = state_partition(key, len(places))
        return index, places[index]["leader_epoch"]

    def _places(self, topic: str) -> Mapping[int, PartitionMetadata]:
        node = self.brokers[0]
        version = self.asker.client.highest(node, "Metadata")
        return self.asker.client.call(node, Metadata(topics=(topic,)), version).result.topics[topic]["partitions"]

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
        verb = WriteTxnMarkers(
            producer_id=producer_id,
            producer_epoch=epoch,
            committed=commit,
            partitions=(partition.place,),
            coordinator_epoch=coordinator_epoch,
        )
        said: dict[str, Json] = {
            "partition": str(partition),
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "committed": commit,
            "coordinator_epoch": coordinator_epoch,
        }
        used = self.asker.client.highest(partition.leader, verb.api) if version is None else version
        return self.asker.ask(partition.leader, verb, used, as_=as_, request=said)

    def config(self, broker: int, key: str) -> str | None:
        """A broker's setting as it is now, or None where this release has no such setting."""
        return self._config(broker, key)

    @contextmanager
    def unverified(self) -> Iterator[None]:
        """Verification of old clients' partitions switched off, where the release has it, so that one can hang."""
        known = self.config(self.brokers[0], VERIFICATION) is not None
        with self.setting(VERIFICATION, "false") if known else nullcontext():
            yield

    @contextmanager
    def setting(self, key: str, value: str) -> Iterator[None]:
        """A dynamic setting on every broker for the length of the block."""
        self._set(key, value)
        try:
            yield
        finally:
            self._set(key, None)

    @contextmanager
    def feature(self, name: str, level: int) -> Iterator[None]:
        """A feature at this level for the length of the block; 0 is shown by the feature's absence."""
        before = self._finalized(self.brokers[0]).get(name, 0)
        self._level(name, before, level)
        try:
            yield
        finally:
            self._level(name, level, before)

    def _level(self, name: str, now: int, level: int) -> None:
        if now == level:
            return
        kind = UPGRADE if level > now else SAFE_DOWNGRADE
        self._do(self.brokers[0], UpdateFeatures(feature=name, level=level, upgrade_type=kind))
        wait.until(
            lambda: all(self._finalized(broker).get(name, 0) == level for broker in self.brokers),
            what=f"{name}={level} on every broker",
            within=PROPAGATION,
        )

    def _finalized(self, broker: int) -> Mapping[str, int]:
        return self.asker.client.refresh(broker).finalized_features

    def _set(self, key: str, value: str | None) -> None:
        before = {broker: self._config(broker, key) for broker in self.brokers} if value is None else {}
        changes = {"set": {} if value is None else {key: value}, "delete": (key,) if value is None else ()}
        verb = IncrementalAlterConfigs(resource_type=BROKER, resource_name="", **changes)  # type: ignore[arg-type]
        self._do(self.brokers[0], verb)
        wait.until(
            lambda: all(self._applied(broker, key, value, before.get(broker)) for broker in self.brokers),
            what=f"{key}={value} on every broker",
            within=PROPAGATION,
        )

    def _applied(self, broker: int, key: str, value: str | None, before: str | None) -> bool:
        now = self._config(broker, key)
        return now == value if value is not None else now != before

    def _config(self, broker: int, key: str) -> str | None:
        verb = DescribeConfigs(resource_type=BROKER, resource_name=str(broker), keys=(key,))
        version = self.asker.client.highest(broker, "DescribeConfigs")
        return self.asker.client.call(broker, verb, version).result.configs.get(key)

    def _serves(self, topic: str, index: int, leader: int) -> bool:
        version = self.asker.client.highest(leader, "ListOffsets")
        verb = ListOffsets(topic=topic, partition=index, timestamp=-1, isolation=0)
        return self.asker.client.call(leader, verb, version).result.error == 0

    def _do(self, node: int, verb: ApiRequest[ResultT]) -> ResultT:
        version = self.asker.client.highest(node, verb.api)
        result = self.asker.client.call(node, verb, version, within=30.0).result
        if result.error != 0:
            said = f"{error_name(result.error)} ({result.error}) {result.error_message or ''}".strip()
            raise Unprepared(f"{verb.api} v{version} answered {said}")
        return result
