"""A member of a consumer group that owns one partition: it joins, joins again for a new generation, and leaves.

Alone in its group, so no request waits for another member. It sends no heartbeats: a session lasts longer than a
requirement.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from harness.base.kafka_error import KafkaError
from harness.evidence.requirement_evidence import Step
from harness.lab.partition import Group, Partition
from harness.lab.step_recorder import StepRecorder
from harness.wire.records.consumer_protocol import RANGE, assignment, subscription
from harness.wire.requests.groups.join_group import JoinGroup
from harness.wire.requests.groups.leave_group import LeaveGroup
from harness.wire.requests.groups.sync_group import SyncGroup
from harness.wire.wire_errors import WireError

SESSION_MS = 45_000


@dataclass(slots=True, kw_only=True)
class Member:
    """``member_id`` and ``generation`` are what a commit of its offsets must carry (KIP-447)."""

    recorder: StepRecorder
    group: Group
    partition: Partition
    member_id: str = ""
    generation: int = -1

    def join(self) -> None:
        """Join, or join again, and take the assignment: the group is stable, in a new generation.

        :raises Unprepared: When the group does not take it.
        """
        joined = self._joined()
        self.member_id, self.generation = str(joined.fields["member"]), joined.answer_int("generation")
        request = SyncGroup(
            group=self.group.name,
            generation=self.generation,
            member=self.member_id,
            protocol=RANGE,
            assignments={self.member_id: assignment([self.partition.topic_partition])},
        )
        self.recorder.ask(self.node, request, self._version(request.api))

    def leave(self) -> None:
        """Leave, so that the group is empty again; the answer does not matter."""
        request = LeaveGroup(group=self.group.name, member=self.member_id)
        with suppress(WireError):
            self.recorder.answer(self.node, request, self._version(request.api))

    @property
    def node(self) -> int:
        """The group's coordinator."""
        return self.group.offsets.leader

    def _joined(self) -> Step:
        step = self._ask_to_join(self.member_id)
        if step.error == KafkaError.MEMBER_ID_REQUIRED:  # KIP-394
            step = self._ask_to_join(str(step.fields["member"]))
        return self.recorder.kept(step, None)

    def _ask_to_join(self, member: str) -> Step:
        request = JoinGroup(
            group=self.group.name,
            member=member,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            protocols=((RANGE, subscription((self.partition.topic,))),),
        )
        return self.recorder.asked(self.node, request, self._version(request.api))

    def _version(self, api: str) -> int:
        return self.recorder.client.highest(self.node, api)


@contextmanager
def joined(recorder: StepRecorder, group: Group, partition: Partition) -> Iterator[Member]:
    """A member for the length of the block; :raises Unprepared: when the group does not take it."""
    member = Member(recorder=recorder, group=group, partition=partition)
    try:
        member.join()
        yield member
    finally:
        member.leave()
