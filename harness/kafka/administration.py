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
from harness.base.unprepared import Unprepared
from harness.kafka.any_broker import AnyBroker, told
from harness.kafka.coordinators import Coordinators
from harness.kafka.topics import PROPAGATION_SECONDS, Topics
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.describe_configs import BROKER, DescribeConfigs
from harness.wire.requests.cluster.incremental_alter_configs import IncrementalAlterConfigs
from harness.wire.requests.cluster.update_features import SAFE_DOWNGRADE, UPGRADE, UpdateFeatures
from harness.wire.requests.groups.find_coordinator import TRANSACTION
from harness.wire.wire_client import WireClient

ResultT = TypeVar("ResultT", bound=ApiResult)

VERIFICATION = "transaction.partition.verification.enable"
"""The switch of KIP-890's defence for old clients; older brokers have neither the switch nor the defence."""


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

        Where the cluster takes no assignment it has so many partitions and replicas all the same.

        :raises Unprepared: When the controller refuses.
        :raises TimedOut: When a leader does not serve its partition in time.
        """
        topics, replicas = Topics(self._any), max(map(len, assignment.values()))
        made = topics.create(
            name, partitions=len(assignment), replicas=replicas, assignment=assignment, configs=configs
        )
        topics.await_served(made, tuple(made.partitions))
        return made.topic_id

    def coordinator(self, key: str, key_type: int = TRANSACTION) -> int:
        """The broker that coordinates the transactional id, or the group with key type ``GROUP`` (FindCoordinator).

        :raises Unprepared: When the broker answers with an error that does not pass.
        """
        return Coordinators(self._any).of(key, key_type)

    def config(self, broker: int, key: str) -> str | None:
        """A broker's setting as it is now, or None where it has no such setting, or does not show any."""
        if DescribeConfigs.api not in self.client.offered(broker).apis:
            return None
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

    @property
    def _any(self) -> AnyBroker:
        return AnyBroker(self.client, self.brokers)

    def _change(self, request: ApiRequest[ResultT]) -> ResultT:
        result = self._any.controller(request)
        if result.error:
            raise Unprepared(f"{request.api} answered {told(result)}")
        return result

    def _call(self, node: int, request: ApiRequest[ResultT]) -> ResultT:
        return self.client.call(node, request, self.client.highest(node, request.api)).result
