"""Zombies: two or three producers share one transactional id; each ``init`` fences the one before.

A fenced producer does not know it. It goes on with the transaction that it has open and tries to commit it, long after
another has taken over; nothing that it does then may ever become visible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import LANES, Role
from harness.chaos.play.actor import Actor

IDS = {"haunted-2": 2, "haunted-3": 3}
"""Transactional id to the number of producers that share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zombies:
    """Producers that stay in mid-transaction until another has taken over, and then go on.

    One partition, so that what a zombie writes meets the transaction that its rival has open there.
    """

    partitions: int = 1
    request_ms: int = 3_000
    name: str = "zombies"

    @property
    def topics(self) -> Mapping[str, int]:
        """One topic that all of them write to."""
        return {"haunted": self.partitions}

    def roles(self) -> Sequence[Role]:
        """Every sharer of every id."""
        return [
            Role(
                name=f"{shared}-{'abc'[number]}",
                transactional_id=shared,
                run=self._run,
                lane=LANES[number % len(LANES)],
                request_ms=self.request_ms,
            )
            for shared, sharers in IDS.items()
            for number in range(sharers)
        ]

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """Records between those of the zombies."""
        partitions = [draw.randrange(self.partitions) for _ in range(records)]
        written = [RecordToWrite(topic="haunted", partition=partition) for partition in partitions]
        return written, draw.random() < 0.8

    def _run(self, actor: Actor, draw: Random) -> None:
        actor.pause(draw.uniform(0, 0.3))
        while not actor.over:
            partitions = [draw.randrange(self.partitions) for _ in range(draw.randint(2, 4))]
            stay_seconds, rest_seconds, before = draw.uniform(0.05, 0.4), draw.uniform(0, 0.1), draw.randint(0, 1)
            stubborn, quick = draw.random(), draw.random()
            records = [RecordToWrite(topic="haunted", partition=partition) for partition in partitions]
            if quick < 0.4:
                actor.transact(records, commit=draw.random() < 0.8)
            else:
                self._linger(actor, records, before, stay_seconds, stubborn < 0.5)
            actor.pause(rest_seconds)

    @staticmethod
    def _linger(
        actor: Actor, records: Sequence[RecordToWrite], before: int, stay_seconds: float, stubborn: bool
    ) -> None:
        """Part of a transaction, a pause in which a rival may come, and the rest; then committed or given up.

        :param before: Records before the pause; with none, the first record already meets the rival.
        """
        if not actor.begin(len(records)):
            return
        for record in records[:before]:
            if not actor.write(record):
                actor.give_up()
                return
        actor.pause(stay_seconds)
        sure = True
        for record in records[before:]:
            sure = actor.write(record) and sure
            if actor.in_doubt:
                break
        if sure or (stubborn and not actor.in_doubt):
            actor.end(commit=True, retire=not sure)
        else:
            actor.give_up()
