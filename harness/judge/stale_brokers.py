"""When a broker may refuse by what it knew before another one led or coordinated in its place, and whom that concerns.

Such a broker can accept nothing, because nobody follows it any more; so only refusals, and descriptions, say nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.evidence.history.asked_request import AskedRequest
from harness.evidence.json_codec import from_json
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from harness.wire.records.transaction_state import state_partition
from harness.wire.topic_partitions import partition_name

GROUP_OFFSETS = "__consumer_offsets"
STATE_PARTITIONS = "state_partitions"
"""The fact of a run that tells how many partitions ``__transaction_state`` has."""
COORDINATORS_KEPT = "coordinators_kept"
"""The fact of a run that tells which of them had one leader all the time, in one term."""


@dataclass(frozen=True, slots=True)
class StaleWindow:
    """Milliseconds of the run's clock.

    :param moved: The partitions that another broker came to lead, by name; None where it may have been any.
    """

    since: float
    upto: float
    moved: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleBrokers:
    """All of a run.

    :param state_partitions: Of ``__transaction_state``; None where it is not known, and then each of them concerns all.
    :param kept: Those of them whose leader stayed.
    """

    windows: Sequence[StaleWindow] = ()
    state_partitions: int | None = None
    kept: frozenset[int] = frozenset()

    def keep(self, transactional_id: str) -> bool:
        """Whether an id had one coordinator all the time, which never loaded it anew."""
        count = self.state_partitions
        return count is not None and state_partition(transactional_id, count) in self.kept

    def concern(self, row: Mapping[str, Any], transactional_id: str) -> bool:
        """Whether who answered an operation may have been one; its request went to a coordinator, or to a leader that
        asks the coordinator.

        :param row: With the columns of :data:`harness.judge.client_trace.COLUMNS`.
        """
        met = [each.moved for each in self.windows if each.since <= row["ended"] and row["started"] <= each.upto]
        return any(moved is None or self._is_asked(row, transactional_id, moved) for moved in met)

    def _is_asked(self, row: Mapping[str, Any], transactional_id: str, moved: frozenset[str]) -> bool:
        if row["verb"] == "send_offsets" and _any_of(GROUP_OFFSETS, moved):
            return True
        if self.state_partitions is None and _any_of(TRANSACTION_STATE, moved):
            return True
        return not moved.isdisjoint(self._places(row, transactional_id))

    def _places(self, row: Mapping[str, Any], transactional_id: str) -> Iterator[str]:
        asked = from_json(AskedRequest, row["request"]) if row["verb"] == "ask" else None
        if self.state_partitions is not None:
            name = asked.transactional_id if asked and asked.transactional_id else transactional_id
            yield partition_name(TRANSACTION_STATE, state_partition(name, self.state_partitions))
        topic, partition = (row["topic"], row["partition"]) if asked is None else (asked.topic, asked.partition)
        if topic:
            yield partition_name(topic, partition)


def _any_of(topic: str, moved: frozenset[str]) -> bool:
    return any(each.startswith(f"{topic}-") for each in moved)
