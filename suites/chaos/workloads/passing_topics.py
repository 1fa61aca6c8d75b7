"""Passing topics: transfers whose transactions also write to a topic that may be deleted at any time.

Whatever becomes of that topic, the two sides of a transfer show together or not at all, and its transaction comes to an
end: a coordinator has nothing to mark on a partition that is gone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import Role
from harness.chaos.play.actor import Actor
from suites.chaos.workloads.transfer import Transfer, move

PARTITIONS = 2
"""Of each topic that passes."""
PAUSE_SECONDS = (0.3, 1.5)
"""Between the two sides of a transfer, so that most are still open when a topic that they noted is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassingTopics:
    """Tellers who note each transfer in a topic that passes, until they are refused there; then in the next one.

    :param topics_that_pass: How many there are.
    """

    topics_that_pass: int = 6
    transfer: Transfer = field(default_factory=lambda: Transfer(tellers=4))
    name: str = "passing-topics"

    @property
    def topics(self) -> Mapping[str, int]:
        """The accounts, and those that pass."""
        return {**self.transfer.topics, **dict.fromkeys(self.passing, PARTITIONS)}

    @property
    def passing(self) -> Sequence[str]:
        """``notes-0`` and so on."""
        return [f"notes-{number}" for number in range(self.topics_that_pass)]

    def roles(self) -> Sequence[Role]:
        """The tellers of transfers."""
        return [replace(role, run=self._run) for role in self.transfer.roles()]

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """Transfers that nobody notes."""
        return self.transfer.crowd_transaction(draw, records)

    def _run(self, actor: Actor, draw: Random) -> None:
        turn = 0
        while not actor.over:
            money, commit = move(draw, self.transfer.partitions)
            note = RecordToWrite(topic=self.passing[turn % self.topics_that_pass], partition=draw.randrange(PARTITIONS))
            seconds = draw.uniform(*PAUSE_SECONDS)
            turn += not self._transfer(actor, money, note, seconds, commit=commit)

    @staticmethod
    def _transfer(
        actor: Actor, money: Sequence[RecordToWrite], note: RecordToWrite, seconds: float, *, commit: bool
    ) -> bool:
        """One side, the note, a pause, the other side; whether the note could be written."""
        if not actor.begin(len(money) + 1):
            return True
        first, *rest = money
        noted = actor.write(first) and actor.write(note)
        actor.pause(seconds)
        if noted and all(actor.write(record) for record in rest):
            actor.end(commit=commit)
        else:
            actor.give_up()
        return noted
