"""Interleave: many transactions open on one partition at once, ended in any order, many of them aborted.

The last stable offset waits for the oldest; what a read_committed reader is shown depends on every marker and on the
list of aborted transactions that the broker sends along.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import Role, numbered
from harness.chaos.play.actor import Actor

ABORTED, BY_CROWD = 0.4, 0.1
"""Share of transactions that are aborted on purpose: of the writers', and of the crowd's, which has a thousand times as
many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interleave:
    """Writers with transactions of one to five records and pauses between the records.

    :param pause_seconds: Longest pause between two records.
    :param fresh: How many of the writers take a new transactional id with each successor.
    """

    writers: int = 5
    partitions: int = 2
    request_ms: int = 3_000
    pause_seconds: float = 0.03
    fresh: int = 0
    name: str = "interleave"

    @property
    def topics(self) -> Mapping[str, int]:
        """One topic of few partitions."""
        return {"crowded": self.partitions}

    def roles(self) -> Sequence[Role]:
        """Each writer has its own transactional id."""
        writer = Role(name="writer", transactional_id="writer", run=self._run, request_ms=self.request_ms)
        return [
            replace(role, fresh_ids=number < self.fresh) for number, role in enumerate(numbered(self.writers, writer))
        ]

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """Records anywhere."""
        partitions = [draw.randrange(self.partitions) for _ in range(records)]
        written = [RecordToWrite(topic="crowded", partition=partition) for partition in partitions]
        return written, draw.random() >= BY_CROWD

    def _run(self, actor: Actor, draw: Random) -> None:
        while not actor.over:
            partitions = [draw.randrange(self.partitions) for _ in range(draw.randint(1, 5))]
            pauses = [draw.uniform(0, self.pause_seconds) for _ in range(8)]
            commit = draw.random() >= ABORTED
            records = [RecordToWrite(topic="crowded", partition=partition) for partition in partitions]
            actor.transact(records, commit=commit, between_records=partial(_pause, actor, pauses))


def _pause(actor: Actor, pauses: list[float]) -> None:
    actor.pause(pauses.pop())
