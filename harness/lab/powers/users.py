"""Named users beside the lanes' superusers, and what they are allowed to do.

Only a cluster that was asked for with ``OwnCluster(users=…)`` has them. Without a grant a user may do nothing: what one
requirement grants is on names of its own, or is taken back before the next one begins, and always at its end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.cluster.nodes.user_listener import USERS, login_of
from harness.kafka.any_broker import CONTROLLER_SECONDS, AnyBroker, told
from harness.lab.lane_clients import LaneClients
from harness.lab.partition import Group, Partition
from harness.lab.producer import Producer
from harness.lab.step_recorder import StepRecorder
from harness.wire.requests.cluster.acls import (
    Acl,
    AclOperation,
    CreateAcls,
    DeleteAcls,
    DescribeAcls,
    Pattern,
    Resource,
)

__all__ = ["AclOperation", "Grant", "Users", "on_cluster", "on_group", "on_id", "on_ids", "on_topic"]


@dataclass(frozen=True, slots=True)
class Grant:
    """An operation that somebody may do on a resource."""

    resource: Resource
    name: str
    operation: AclOperation
    pattern: Pattern = Pattern.LITERAL

    def to(self, user: str) -> Acl:
        """As Kafka keeps it."""
        return Acl(
            principal=f"User:{user}",
            resource=self.resource,
            name=self.name,
            operation=self.operation,
            pattern=self.pattern,
        )


def on_cluster(operation: AclOperation) -> Grant:
    """On the cluster itself."""
    return Grant(Resource.CLUSTER, "kafka-cluster", operation)


def on_topic(partition: Partition, operation: AclOperation) -> Grant:
    """On the partition's topic."""
    return Grant(Resource.TOPIC, partition.topic, operation)


def on_group(group: Group, operation: AclOperation) -> Grant:
    """On the group."""
    return Grant(Resource.GROUP, group.name, operation)


def on_id(txn: Producer, operation: AclOperation) -> Grant:
    """On the producer's transactional id."""
    return Grant(Resource.TRANSACTIONAL_ID, txn.transactional_id, operation)


def on_ids(prefix: str, operation: AclOperation) -> Grant:
    """On all transactional ids that begin so."""
    return Grant(Resource.TRANSACTIONAL_ID, prefix, operation, Pattern.PREFIXED)


@dataclass(frozen=True, slots=True)
class Users:
    """Connections as users, and grants to them; ``any_broker`` is asked by a superuser."""

    clients: LaneClients
    any_broker: AnyBroker

    def step_recorder(self, user: str) -> StepRecorder:
        """The user's requests, over one client of his own.

        :raises Unprepared: When the cluster has no listener for users.
        """
        addresses = self.clients.topology.listeners.get(USERS)
        if addresses is None:
            raise Unprepared("this cluster has no listener for users")
        return self.clients.of_user(user, addresses, login_of(user))

    def acting(self, user: str, txn: Producer) -> Producer:
        """The producer as this user would be it: the same transactional id and identity, the user's connection."""
        made = Producer(
            step_recorder=self.step_recorder(user),
            transactional_id=txn.transactional_id,
            coordinator=txn.coordinator,
            protocol=txn.protocol,
        )
        made.become(txn.producer_id, txn.epoch)
        return made

    @contextmanager
    def granted(self, user: str, *grants: Grant) -> Iterator[None]:
        """Allowed for the length of the block, on every broker.

        :raises Unprepared: When the controller refuses.
        :raises TimedOut: When a broker does not know of it, or still does afterwards, in time.
        """
        acls = tuple(grant.to(user) for grant in grants)
        try:
            self._taken(CreateAcls(acls=acls))
            self._until_known(acls, 1)
            yield
        finally:
            self._taken(DeleteAcls(acls=acls))
            self._until_known(acls, 0)

    def _taken(self, request: CreateAcls | DeleteAcls) -> None:
        result = self.any_broker.controller(request)
        if result.error:
            raise Unprepared(f"{request.api} answered {told(result)}")

    def _until_known(self, acls: tuple[Acl, ...], count: int) -> None:
        """Each broker hears of a change from the controller, in its own time."""
        wait.until(
            lambda: all(self._found(acl) == {count} for acl in acls),
            what="permissions as wanted on every broker",
            timeout_seconds=CONTROLLER_SECONDS,
        )

    def _found(self, acl: Acl) -> set[int]:
        return {answer.found for answer in self.any_broker.each(DescribeAcls(acl=acl)).values()}
