"""Kafka's own administration: topics with a chosen leader, settings and feature levels.

These are what any Kafka offers, so they need no power of the backend; settings and levels are set back on leaving the
block, also after an error. Exchanges are recorded if the client records.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from harness.base import wait
from harness.base.kafka_error import error_name
from harness.base.unprepared import Unprepared
from harness.kafka.retriable import TRANSIENT
from harness.kafka.routing import RoutingTable, find_coordinator
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.create_topic import CreateTopic
from harness.wire.requests.cluster.delete_topics import DeleteTopics
from harness.wire.requests.cluster.describe_configs import BROKER, DescribeConfigs
from harness.wire.requests.cluster.incremental_alter_configs import IncrementalAlterConfigs
from harness.wire.requests.cluster.update_features import SAFE_DOWNGRADE, UPGRADE, UpdateFeatures
from harness.wire.requests.groups.find_coordinator import TRANSACTION
from harness.wire.requests.log.list_offsets import LATEST, ListOffsets
from harness.wire.wire_client import WireClient

ResultT = TypeVar("ResultT", bound=ApiResult)

VERIFICATION = "transaction.partition.verification.enable"
"""The switch of KIP-890's defence for old clients; older brokers have neither the switch nor the defence."""
PROPAGATION_SECONDS = 10.0
"""Within which a metadata change must have reached every broker."""
CONTROLLER_SECONDS = 30.0
"""That the controller may take for one change."""


@dataclass(frozen=True, slots=True)
class Administration:
    """Changes that an administrator may make, and what is read for them; the first broker is asked.

    :param before_change: Called with a phrase before a setting or level is changed; raises where it may not be.
    """

    client: WireClient
    brokers: Sequence[int]
    before_change: Callable[[str], None] = lambda _what: None

    def create_topic(
        self, name: str, assignment: Mapping[int, tuple[int, ...]], configs: Mapping[str, str] | None = None
    ) -> UUID | None:
        """A topic whose partition ``i`` has the replicas ``assignment[i]``, leader first; returns when it serves.

        :raises Unprepared: When the controller refuses.
        :raises TimedOut: When a leader does not serve its partition in time.
        """
        result = self._change(CreateTopic(name=name, assignment=assignment, configs=dict(configs or {})))
        for index, replicas in assignment.items():
            wait.until(
                lambda index=index, leader=replicas[0]: self._serves(name, index, leader),  # type: ignore[misc]
                what=f"topic {name}-{index} on broker {replicas[0]}",
                timeout_seconds=PROPAGATION_SECONDS,
                interval_seconds=0.002,
            )
        return UUID(result.topic_id) if result.topic_id else None

    def delete_topics(self, names: Sequence[str]) -> None:
        """Delete them; returns when the controller has accepted it."""
        self._change(DeleteTopics(topics=tuple(names)))

    def coordinator(self, key: str, key_type: int = TRANSACTION) -> int:
        """The broker that coordinates the transactional id, or the group with key type ``GROUP`` (FindCoordinator).

        :raises Unprepared: When the broker answers with an error that does not pass.
        """
        return wait.until(
            lambda: find_coordinator(key, key_type, self._ask),
            what=f"a coordinator of {key}",
            timeout_seconds=PROPAGATION_SECONDS,
            interval_seconds=0.02,
        )

    def key_partition(self, topic: str, key: str) -> tuple[int, int]:
        """Index and leader epoch of the partition of an internal topic that keeps a transactional id or group."""
        table = RoutingTable()
        table.refresh((topic,), self._first)  # a partition without leader is an error of Metadata, and no matter here
        found = table.key_partition(topic, key)
        if found is None:
            raise Unprepared(f"broker {self.brokers[0]} knows no partitions of {topic}")
        return found[1], table.partitions(topic)[found[1]]["leader_epoch"]

    def config(self, broker: int, key: str) -> str | None:
        """A broker's setting as it is now, or None where this release has no such setting."""
        request = DescribeConfigs(resource_type=BROKER, resource_name=str(broker), keys=(key,))
        return self._call(broker, request).configs.get(key)

    @contextmanager
    def unverified(self) -> Iterator[None]:
        """Verification of old clients' partitions switched off, where the release has it, so that one can hang."""
        known = self.config(self.brokers[0], VERIFICATION) is not None
        with self.setting(VERIFICATION, "false") if known else nullcontext():
            yield

    @contextmanager
    def setting(self, key: str, value: str) -> Iterator[None]:
        """A dynamic setting on every broker for the length of the block."""
        self.before_change(f"changing {key}")
        self._set(key, value)
        try:
            yield
        finally:
            self._set(key, None)

    @contextmanager
    def feature(self, name: str, level: int) -> Iterator[None]:
        """A feature at this level for the length of the block; 0 is shown by the feature's absence."""
        self.before_change(f"changing the level of {name}")
        before = self._finalized(self.brokers[0]).get(name, 0)
        self._finalize(name, before, level)
        try:
            yield
        finally:
            self._finalize(name, level, before)

    def _finalize(self, name: str, now: int, level: int) -> None:
        if now == level:
            return
        kind = UPGRADE if level > now else SAFE_DOWNGRADE
        self._change(UpdateFeatures(feature=name, level=level, upgrade_type=kind))
        wait.until(
            lambda: all(self._finalized(broker).get(name, 0) == level for broker in self.brokers),
            what=f"{name}={level} on every broker",
            timeout_seconds=PROPAGATION_SECONDS,
        )

    def _finalized(self, broker: int) -> Mapping[str, int]:
        return self.client.refresh(broker).finalized_features

    def _set(self, key: str, value: str | None) -> None:
        """Set it, or with None delete it, which is seen by its value being another one."""
        before = {broker: self.config(broker, key) for broker in self.brokers} if value is None else {}
        changes = {"set": {} if value is None else {key: value}, "delete": (key,) if value is None else ()}
        self._change(IncrementalAlterConfigs(resource_type=BROKER, resource_name="", **changes))  # type: ignore[arg-type]
        wait.until(
            lambda: all(self._applied(broker, key, value, before.get(broker)) for broker in self.brokers),
            what=f"{key}={value} on every broker",
            timeout_seconds=PROPAGATION_SECONDS,
        )

    def _applied(self, broker: int, key: str, value: str | None, before: str | None) -> bool:
        now = self.config(broker, key)
        return now == value if value is not None else now != before

    def _serves(self, topic: str, index: int, leader: int) -> bool:
        return self._call(leader, ListOffsets(topic=topic, partition=index, timestamp=LATEST)).error == 0

    def _change(self, request: ApiRequest[ResultT]) -> ResultT:
        version = self.client.highest(self.brokers[0], request.api)
        result = self.client.call(self.brokers[0], request, version, timeout_seconds=CONTROLLER_SECONDS).result
        if result.error:
            answer = f"{error_name(result.error)} ({result.error}) {result.error_message or ''}".strip()
            raise Unprepared(f"{request.api} v{version} answered {answer}")
        return result

    def _ask(self, request: ApiRequest[ResultT]) -> ResultT | None:
        """The first broker's answer, None while its error may pass; :raises Unprepared: for any other error."""
        result = self._first(request)
        if result.error in TRANSIENT:
            return None
        if result.error:
            raise Unprepared(f"{request.api} answered {error_name(result.error)} ({result.error})")
        return result

    def _first(self, request: ApiRequest[ResultT]) -> ResultT:
        return self._call(self.brokers[0], request)

    def _call(self, node: int, request: ApiRequest[ResultT]) -> ResultT:
        return self.client.call(node, request, self.client.highest(node, request.api)).result
