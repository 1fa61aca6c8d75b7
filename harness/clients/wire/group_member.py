"""A member of a consumer group, eager and by ranges: joins, sends heartbeats, joins again when the group asks.

It has connections of its own, because a coordinator answers JoinGroup only when every other member has come: a request
behind it on the same connection would wait as long.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.kafka_error import KafkaError
from harness.clients.client import CallResult, ClientOptions
from harness.clients.wire.connections import R
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.retry import Retry
from harness.wire.api_request import ApiRequest
from harness.wire.records.consumer_protocol import (
    RANGE,
    assign_ranges,
    assigned_partitions,
    assignment,
    subscribed_topics,
    subscription,
)
from harness.wire.requests.groups.heartbeat import Heartbeat
from harness.wire.requests.groups.join_group import JoinGroup, JoinGroupResult
from harness.wire.requests.groups.leave_group import LeaveGroup
from harness.wire.requests.groups.sync_group import SyncGroup
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import UnreadableAnswer

JOIN_AGAIN = frozenset(
    {
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.MEMBER_ID_REQUIRED,
    }
)
"""A new generation has begun without us, the group has forgotten us, or it wants to be asked by member id."""
LEAVE_MS = 1_000
"""How long leaving may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetadata:
    """As whom offsets are committed: what the group's coordinator checks (KIP-447, ``ConsumerGroupMetadata``)."""

    group: str
    member: str = ""
    generation: int = -1


@dataclass(slots=True, kw_only=True)
class GroupMember:
    """This client in its group; ``assigned`` is empty while it is not joined.

    :param joins: How often it has joined; a new number means a new assignment.
    """

    options: ClientOptions
    retry: Retry
    topics: tuple[str, ...] = ()
    member: str = ""
    generation: int = -1
    joined: bool = False
    joins: int = 0
    assigned: tuple[TopicPartition, ...] = ()

    @property
    def metadata(self) -> GroupMetadata:
        """As whom offsets are committed; before joining as no member, which is right for an empty group."""
        return GroupMetadata(group=self.group, member=self.member if self.joined else "", generation=self.generation)

    @property
    def group(self) -> str:
        assert self.options.group is not None, "a consumer without a group"
        return self.options.group

    def stay(self, deadline: Deadline) -> CallResult:
        """Be a member when this is done: send a heartbeat, and join again if the group asks for it."""
        if self.joined:
            heartbeat = Heartbeat(group=self.group, generation=self.generation, member=self.member)
            result, _ = self._ask(heartbeat, deadline)
            if result.done:
                return result
            self._reset(result.error)
        return self.join(deadline)

    def join(self, deadline: Deadline) -> CallResult:
        """Join and learn what is assigned; tried again while the group is between two generations."""
        while True:
            result, answer = self._ask(self._join_request(), deadline)
            if answer is not None and answer.member:
                self.member = answer.member  # MEMBER_ID_REQUIRED gives it (KIP-394)
            if answer is not None and result.done:
                result = self._sync(answer, result.tries, deadline)
            if result.done or deadline.over or result.error not in JOIN_AGAIN:
                return result
            if result.error != KafkaError.MEMBER_ID_REQUIRED:
                self._reset(result.error)

    def leave(self) -> None:
        """Leave, so that the others need not wait; the answer does not matter."""
        if self.member:
            self._ask(LeaveGroup(group=self.group, member=self.member), Deadline.of_ms(LEAVE_MS))
        self._reset(KafkaError.UNKNOWN_MEMBER_ID)
        self.retry.connections.close()

    def _sync(self, joined: JoinGroupResult, tries: int, deadline: Deadline) -> CallResult:
        self.generation = joined.generation
        request = SyncGroup(
            group=self.group,
            generation=joined.generation,
            member=joined.member,
            protocol=joined.protocol,
            assignments=self._assignments(joined, deadline),
        )
        result, answer = self._ask(request, deadline)
        if answer is not None and result.done:
            self.assigned = assigned_partitions(answer.assignment)
            self.joined = True
            self.joins += 1
        return replace(result, tries=result.tries + tries)

    def _assignments(self, joined: JoinGroupResult, deadline: Deadline) -> Mapping[str, bytes]:
        if joined.leader != joined.member:
            return {}
        subscribed = {member: _topics(metadata) for member, metadata in joined.members.items()}
        names = {topic for topics in subscribed.values() for topic in topics}
        partitions = {topic: self.retry.routes.partitions(topic, deadline) for topic in names}
        counts = {topic: len(known) for topic, known in partitions.items() if known}
        return {member: assignment(given) for member, given in assign_ranges(subscribed, counts).items()}

    def _join_request(self) -> JoinGroup:
        return JoinGroup(
            group=self.group,
            member=self.member,
            session_timeout_ms=self.options.session_timeout_ms,
            rebalance_timeout_ms=self.options.session_timeout_ms,
            protocols=((RANGE, subscription(self.topics)),),
        )

    def _reset(self, error: int | None) -> None:
        self.assigned, self.joined, self.generation = (), False, -1
        if error == KafkaError.UNKNOWN_MEMBER_ID:
            self.member = ""

    def _ask(self, request: ApiRequest[R], deadline: Deadline) -> tuple[CallResult, R | None]:
        return self.retry.ask(request, lambda left: self.retry.routes.coordinator_of_group(self.group, left), deadline)


def _topics(metadata: bytes) -> Sequence[str]:
    try:
        return subscribed_topics(metadata)
    except UnreadableAnswer:
        return ()
