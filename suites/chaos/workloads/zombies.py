"""Zombies: two and three producers share one transactional id; each that comes fences the one before.

A fenced producer does not know it. It goes on with the transaction that it has open and tries to commit it, long after
another has taken over; nothing that it does then may ever show.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.chaos.plan.scenario import Role
from harness.chaos.play.actor import Actor, RecordToWrite

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
                play=self._play,
                lane=("victim", "rival")[number % 2],
                request_ms=self.request_ms,
            )
            for shared, sharers in IDS.items()
            for number in range(sharers)
        ]

    def _play(self, actor: Actor, draw: Random) -> None:
        actor.pause(draw.uniform(0, 0.3))
        while not actor.over:
            partitions = [draw.randrange(self.partitions) for _ in range(draw.randint(2, 4))]
            stay, rest, before = draw.uniform(0.05, 0.4), draw.uniform(0, 0.1), draw.randint(0, 1)
            stubborn, quick = draw.random(), draw.random()
            writings = [RecordToWrite(topic="haunted", partition=partition) for partition in partitions]
            if quick < 0.4:
                actor.transact(writings, commit=draw.random() < 0.8)
            else:
                self._linger(actor, writings, before, stay, stubborn < 0.5)
            actor.pause(rest)

    @staticmethod
    def _linger(actor: Actor, writings: Sequence[RecordToWrite], before: int, stay: float, stubborn: bool) -> None:
        """Some of a transaction, a pause in which a rival may come, and the rest of it, told to leave or not.

        :param before: Records before the pause; with none, the zombie's first is the one that meets its rival.
        """
        if not actor.begin(len(writings)):
            return
        for writing in writings[:before]:
            if not actor.write(writing):
                actor.give_up()
                return
        actor.pause(stay)
        sure = True
        for writing in writings[before:]:
            sure = actor.write(writing) and sure
            if actor.in_doubt:
                break
        if sure or (stubborn and not actor.in_doubt):
            actor.end(commit=True, retire=not sure)
        else:
            actor.give_up()
