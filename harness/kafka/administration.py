"""Kafka's own administration: topics with a chosen leader, settings and feature levels.

These are what any Kafka offers, so they need no power of the backend. Settings and levels are set back on leaving the
block to what they were before it, a dynamic value that was there included: also after an error, an interrupt, and a
change that not every broker has shown in time. Exchanges are recorded if the client records.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from uuid import UUID

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.kafka.any_broker import CONTROLLER_SECONDS, AnyBroker, told
from harness.kafka.coordinators import Coordinators
from harness.kafka.topics import PROPAGATION_SECONDS, Topics
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.describe_configs import (
    BROKER,
    DYNAMIC_BROKER,
    DYNAMIC_DEFAULT_BROKER,
    DescribeConfigs,
    DescribeConfigsResult,
)
from harness.wire.requests.cluster.incremental_alter_configs import IncrementalAlterConfigs
from harness.wire.requests.cluster.update_features import SAFE_DOWNGRADE, UPGRADE, UpdateFeatures
from harness.wire.requests.groups.find_coordinator import TRANSACTION
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import WireError

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
    patience: wait.Patience = field(default_factory=wait.Patience)

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
        """A broker's setting as it is now, or None where this release has no such setting."""
        return self._described(broker, key).configs.get(key)

    @contextmanager
    def unverified(self) -> Iterator[None]:
        """Verification of old clients' partitions switched off, where the release has it, so that one can hang."""
        known = self._any.of_first(lambda broker: self.config(broker, VERIFICATION)) is not None
        with self.setting(VERIFICATION, "false") if known else nullcontext():
            yield

    @contextmanager
    def setting(self, key: str, value: str, *, broker: int | None = None) -> Iterator[None]:
        """A dynamic setting on every broker for the length of the block; then it is as it was before, in every case.

        :param broker: The one broker that gets the value as its own.
        :raises TimedOut: When a broker does not show the change, or its undoing, in time.
        """
        self.before_change(f"changing {key}")
        effective = {broker: self.config(broker, key) for broker in self.brokers}
        with ExitStack() as undoing:  # each of its steps is done, should another one fail
            undoing.callback(self._until_shown, key, effective)
            dynamic = self._dynamic(key)
            undoing.callback(self._until_dynamic, key, dynamic)
            before = dynamic if broker is None else {str(broker): dynamic.get(str(broker))}
            for resource, old in before.items():
                undoing.callback(self._undo, partial(self._alter, resource, key, old))
            for resource in before:
                self._alter(resource, key, value)
            changed = self.brokers if broker is None else (broker,)
            self._until_shown(key, {**effective, **dict.fromkeys(changed, value)})
            yield

    @contextmanager
    def feature(self, name: str, level: int) -> Iterator[None]:
        """A feature at this level for the length of the block; 0 is shown by the feature's absence.

        Then it has the level of before, in every case. :raises TimedOut: As :meth:`setting` does.
        """
        self.before_change(f"changing the level of {name}")
        before = self._level(name)
        if before == level:
            yield
            return
        with ExitStack() as undoing:
            undoing.callback(self._until_finalized, name, before)
            undoing.callback(self._undo, partial(self._finalize, name, level, before))
            self._finalize(name, before, level)
            self._until_finalized(name, level)
            yield

    @contextmanager
    def keeping(self, name: str) -> Iterator[int]:
        """The level of a feature now; after the block it is that again, whatever was asked for in it.

        :raises TimedOut: As :meth:`setting` does.
        """
        self.before_change(f"changing the level of {name}")
        before = self._level(name)
        with ExitStack() as undoing:
            undoing.callback(self._until_finalized, name, before)
            undoing.callback(self._undo, lambda: self._finalize(name, self._level(name), before))
            yield before

    def finalize(self, name: str, level: int) -> None:
        """Put a feature at this level, for good.

        :raises Unprepared: When the controller refuses.
        :raises TimedOut: When a broker does not show it in time.
        """
        self.before_change(f"changing the level of {name}")
        self._finalize(name, self._level(name), level)
        self._until_finalized(name, level)

    def highest_level(self, name: str) -> int:
        """The highest that every broker supports."""
        ranges = (self.client.refresh(broker).supported_features for broker in self.brokers)
        return min(supported.get(name, (0, 0))[1] for supported in ranges)

    def _dynamic(self, key: str) -> Mapping[str, str | None]:
        """The dynamic value of all brokers (``""``; None when there is none), and of each one that has its own."""
        default: str | None = None
        own: dict[str, str | None] = {}
        for broker in self.brokers:
            values = self._described(broker, key).sources.get(key, {})
            default = values.get(DYNAMIC_DEFAULT_BROKER, default)
            if DYNAMIC_BROKER in values:
                own[str(broker)] = values[DYNAMIC_BROKER]
        return {"": default, **own}

    def _described(self, broker: int, key: str) -> DescribeConfigsResult:
        request = DescribeConfigs(resource_type=BROKER, resource_name=str(broker), keys=(key,), synonyms=True)
        return self._call(broker, request)

    def _alter(self, resource: str, key: str, value: str | None) -> None:
        """Set the dynamic value of one broker, which must be asked itself, or of all (``""``); with None delete it."""
        changed = {} if value is None else {key: value}
        deleted = (key,) if value is None else ()
        request = IncrementalAlterConfigs(resource_type=BROKER, resource_name=resource, set=changed, delete=deleted)
        _taken(request, self._call(int(resource), request) if resource else self._any.controller(request))

    def _until_shown(self, key: str, wanted: Mapping[int, str | None]) -> None:
        wait.until(
            lambda: all(self.config(broker, key) == value for broker, value in wanted.items()),
            what=f"{key} as wanted on every broker",
            timeout_seconds=PROPAGATION_SECONDS,
        )

    def _until_dynamic(self, key: str, wanted: Mapping[str, str | None]) -> None:
        """A broker that has a value of its own shows by that alone nothing of the value of all."""
        wait.until(
            lambda: self._dynamic(key) == wanted,
            what=f"the dynamic values of {key} as wanted",
            timeout_seconds=PROPAGATION_SECONDS,
        )

    def _finalize(self, name: str, now: int, level: int) -> None:
        """Ask for it also where it is so already: what was asked for before may have been taken without an answer."""
        kind = UPGRADE if level > now else SAFE_DOWNGRADE
        request = UpdateFeatures(feature=name, level=level, upgrade_type=kind)
        _taken(request, self._any.controller(request))

    def _until_finalized(self, name: str, level: int) -> None:
        wait.until(
            lambda: all(self._finalized(broker).get(name, 0) == level for broker in self.brokers),
            what=f"{name}={level} on every broker",
            timeout_seconds=PROPAGATION_SECONDS,
        )

    def _level(self, name: str) -> int:
        """What the broker with the newest finalized features says."""
        newest = max(map(self.client.refresh, self.brokers), key=lambda offered: offered.finalized_features_epoch)
        return newest.finalized_features.get(name, 0)

    def _finalized(self, broker: int) -> Mapping[str, int]:
        return self.client.refresh(broker).finalized_features

    def _undo(self, change: Callable[[], None]) -> None:
        """Try until it is taken; :raises TimedOut: with the last reason when it is not in time."""
        refused: list[Exception] = []

        def taken() -> bool:
            try:
                change()
            except (Unprepared, WireError) as reason:
                refused.append(reason)
                return False
            return True

        try:
            wait.until(taken, what="undoing a change", timeout_seconds=CONTROLLER_SECONDS, interval_seconds=0.2)
        except wait.TimedOut as late:
            raise wait.TimedOut(f"{late}: {refused[-1]}") from late

    @property
    def _any(self) -> AnyBroker:
        return AnyBroker(self.client, self.brokers, self.patience)

    def _call(self, node: int, request: ApiRequest[ResultT]) -> ResultT:
        return self.client.call(node, request, self.client.highest(node, request.api)).result


def _taken(request: ApiRequest[ResultT], result: ResultT) -> None:
    if result.error:
        raise Unprepared(f"{request.api} answered {told(result)}")
