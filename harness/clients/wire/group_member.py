"""A member of a consumer group, eager and by ranges: joins, says that it is alive, joins again when the group asks.

It has a channel of its own, because a coordinator answers JoinGroup only when every other member has come: a request
behind it on the same connection would wait as long.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.clients.client import CallResult, ClientOptions
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.retry import R, Retry, RetryResult
from harness.clients.wire.wire_producer import Membership
from harness.evidence.operation import Outcome
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
from harness.wire.requests.groups.sync_group import SyncGroup, SyncGroupResult
from harness.wire.wire_errors import UnreadableAnswer

ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED = 22, 25, 27, 79
SHORTEST_SESSION_MS = 6_000
"""Kafka's default ``group.min.session.timeout.ms``."""
LEAVE_WITHIN_MS = 1_000


@dataclass(slots=True, kw_only=True)
class GroupMember:
    """This actor in its group; ``assigned`` is empty while it is not joined."""

    options: ClientOptions
    attempts: Retry
    topics: tuple[str, ...] = ()
    member: str = ""
    generation: int = -1
    joined: bool = False
    joins: int = 0
    assigned: tuple[tuple[str, int], ...] = field(default=())

    @property
    def membership(self) -> Membership:
        """As whom offsets are committed; before joining as nobody, which a coordinator accepts of an empty group."""
        return Membership(group=self.group, member=self.member if self.joined else "", generation=self.generation)

    @property
    def group(self) -> str:
        """The group's id."""
        assert self.options.group is not None, "a consumer without a group"
        return self.options.group

    def keep(self, bound: Deadline) -> CallResult:
        """Be a member when this returns DONE: say that we are alive, and join again if the group asks for it."""
        if self.joined:
            verb = Heartbeat(group=self.group, generation=self.generation, member=self.member)
            heard = self._ask(verb, bound)
            if heard.done:
                return heard.answer()
            self._out(heard.error)
        return self.join(bound)

    def join(self, bound: Deadline) -> CallResult:
        """Join and learn what is assigned; tried again while the group is between two generations."""
        while True:
            joining = self._ask(self._joining(), bound)
            if joining.refusal is not None and joining.refusal.member:
                self.member = joining.refusal.member  # MEMBER_ID_REQUIRED (KIP-394) tells it
            if joining.result is None:
                answer, error = joining.answer(), joining.error
            else:
                synced = self._sync(joining.result, bound)
                answer, error = synced.answer(earlier=joining.tries), synced.error
            if answer.done or bound.over or error not in JOIN_AGAIN:
                return answer
            if error != MEMBER_ID_REQUIRED:
                self._out(error)

    def leave(self) -> None:
        """Leave, so that the others need not wait; nothing is made of the answer."""
        if self.member:
            self._ask(LeaveGroup(group=self.group, member=self.member), Deadline.of_ms(LEAVE_WITHIN_MS))
        self._out(UNKNOWN_MEMBER_ID)
        self.attempts.channel.close()

    def _sync(self, joined: JoinGroupResult, bound: Deadline) -> RetryResult[SyncGroupResult]:
        self.member, self.generation = joined.member, joined.generation
        verb = SyncGroup(
            group=self.group,
            generation=joined.generation,
            member=joined.member,
            protocol=joined.protocol,
            assignments=self._assignments(joined, bound),
        )
        synced = self._ask(verb, bound)
        if synced.result is not None:
            self.assigned = assigned_partitions(synced.result.assignment)
            self.joined = True
            self.joins += 1
        return synced

    def _assignments(self, joined: JoinGroupResult, bound: Deadline) -> Mapping[str, bytes]:
        if joined.leader != joined.member:
            return {}
        subscribed = {member: _topics(metadata) for member, metadata in joined.members.items()}
        wanted = {topic for topics in subscribed.values() for topic in topics}
        partitions = {topic: self.attempts.routes.partitions(topic, bound) for topic in wanted}
        counts = {topic: len(known) for topic, known in partitions.items() if known}
        return {member: assignment(given) for member, given in assign_ranges(subscribed, counts).items()}

    def _joining(self) -> JoinGroup:
        session = max(SHORTEST_SESSION_MS, self.options.request_ms)
        return JoinGroup(
            group=self.group,
            member=self.member,
            session_timeout_ms=session,
            rebalance_timeout_ms=session,
            protocols=((RANGE, subscription(self.topics)),),
        )

    def _out(self, error: int | None) -> None:
        self.assigned, self.joined, self.generation = (), False, -1
        if error == UNKNOWN_MEMBER_ID:
            self.member = ""

    def _ask(self, verb: ApiRequest[R], bound: Deadline) -> RetryResult[R]:
        return self.attempts.ask(
            verb,
            lambda left: self.attempts.routes.coordinator_of_group(self.group, left),
            bound,
            patience=bound.left,
            repeatable=True,
        )


JOIN_AGAIN = frozenset({ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED})
"""A new generation has begun without us, the group has forgotten us, or it wants to be asked by name."""


def _topics(metadata: bytes) -> Sequence[str]:
    try:
        return subscribed_topics(metadata)
    except UnreadableAnswer:
        return ()


def not_subscribed() -> CallResult:
    """What a poll without ``subscribe`` is told."""
    return CallResult(outcome=Outcome.REFUSED, error=None, reason="subscribe comes first", tries=0)
