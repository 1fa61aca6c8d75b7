"""Silence: a producer stops in mid-transaction; the transaction's timeout must end it, and may hold up no other client.

Some of the silent come back after their time and try to commit what the coordinator has ended; that must be refused.
Neighbours go on writing to the same partitions, and their records must become visible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import Role
from harness.chaos.play.actor import Actor

TIMEOUT_MS = 1_500
"""``transaction.timeout.ms`` of the silent: short, so that a run sees many of them end."""
SILENT_SECONDS = 2.5
"""Seconds of silence after which the timeout must have ended it, the coordinator's search interval included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Silent producers and their neighbours."""

    silent: int = 3
    neighbours: int = 2
    partitions: int = 3
    request_ms: int = 3_000
    name: str = "silence"

    @property
    def topics(self) -> Mapping[str, int]:
        """One topic for all."""
        return {"shared": self.partitions}

    def roles(self) -> Sequence[Role]:
        """The silent have a short timeout, their neighbours an ordinary one."""
        silent = [
            Role(
                name=f"silent-{number}",
                transactional_id=f"silent-{number}",
                run=self._fall_silent,
                timeout_ms=TIMEOUT_MS,
                request_ms=self.request_ms,
            )
            for number in range(self.silent)
        ]
        neighbours = [
            Role(
                name=f"neighbour-{number}",
                transactional_id=f"neighbour-{number}",
                run=self._go_on,
                lane="rival",
                request_ms=self.request_ms,
            )
            for number in range(self.neighbours)
        ]
        return [*silent, *neighbours]

    def _fall_silent(self, actor: Actor, draw: Random) -> None:
        while not actor.over:
            records, comes_back, silent = self._records(draw), draw.random() < 0.5, draw.random() < 0.6
            if not silent:
                actor.transact(records)
                continue
            if not actor.begin(len(records) + 1):
                continue
            if not all(actor.write(record) for record in records):
                actor.give_up()
                continue
            actor.pause(SILENT_SECONDS)
            if comes_back:
                actor.end(commit=True)
            else:
                actor.retire()

    def _go_on(self, actor: Actor, draw: Random) -> None:
        while not actor.over:
            actor.transact(self._records(draw), commit=draw.random() < 0.8)
            actor.pause(draw.uniform(0.01, 0.05))

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """Records beside those of the silent."""
        partitions = [draw.randrange(self.partitions) for _ in range(records)]
        written = [RecordToWrite(topic="shared", partition=partition) for partition in partitions]
        return written, draw.random() < 0.8

    def _records(self, draw: Random) -> Sequence[RecordToWrite]:
        partitions = [draw.randrange(self.partitions) for _ in range(draw.randint(1, 3))]
        return [RecordToWrite(topic="shared", partition=partition) for partition in partitions]
