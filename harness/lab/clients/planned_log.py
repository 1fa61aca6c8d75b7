"""Writes a log as it was planned (:mod:`harness.contract.clients.log_plan`), by raw producers, one marker at a time."""

from dataclasses import dataclass, field

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.contract.clients.log_plan import PLAIN, Action, Ends, LogPlan, TakesOver, Wrote
from harness.lab.lab import Lab
from harness.lab.partition import Partition
from harness.lab.powers.idempotent_producer import IdempotentProducer
from harness.lab.producer import Producer

MARKER_SECONDS = 15.0
"""Within which the marker of an ended transaction must stand in the log."""


@dataclass(slots=True)
class PlannedLog:
    """One partition and its producers, which go on where a plan before left them."""

    lab: Lab
    partition: Partition
    producers: dict[str, Producer] = field(default_factory=dict)
    _plain: IdempotentProducer | None = None

    def write(self, plan: LogPlan) -> None:
        """Each action after the one before is done; :raises Unprepared: when one is refused or its marker is late."""
        for action in plan:
            self._act(action)

    def _act(self, action: Action) -> None:
        match action:
            case Wrote(by=by) if by == PLAIN:
                self._plain = self._plain or self.lab.idempotent()
                self._plain.produce(self.partition, values=action.values)
            case Wrote(by=by):
                producer = self._adding(by)
                producer.produce(self.partition, values=action.values, keys=action.keys)
            case Ends(by=by, commit=done):
                producer, end = self._adding(by), self._end()
                producer.end(commit=done)
                self._await(end + 1)
            case TakesOver(by=by, older=older):
                before, end = self.producers[older], self._end()
                self.producers[by] = self.lab.same_id(before.transactional_id, before.coordinator, "rival")
                self._await(end + 1)

    def _adding(self, by: str) -> Producer:
        """The producer, with the partition in its transaction."""
        if by not in self.producers:
            self.producers[by] = self.lab.producer()
        if self.producers[by].state.must_add(self.partition.topic_partition):
            self.producers[by].add(self.partition)
        return self.producers[by]

    def _end(self) -> int:
        return self.lab.observer.end_offset(self.partition)

    def _await(self, end: int) -> None:
        if wait.elapsed_ms_until(lambda: self._end() >= end, timeout_seconds=MARKER_SECONDS) is None:
            raise Unprepared(f"no marker stands in {self.partition} {MARKER_SECONDS:g} s after the transaction's end")
