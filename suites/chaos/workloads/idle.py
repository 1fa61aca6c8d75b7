"""Idle: producers that write a little and then rest, some of them for longer than brokers remember them.

After a rest a producer goes on as it is, as an application does that has nothing to send at night: where its
transactional id has expired it is refused, and a successor begins. Others rest after a restart, or only for a moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import Role, numbered
from harness.chaos.play.actor import Actor

SHORT_SECONDS, LONG_SECONDS = (0.1, 1.5), (5.0, 7.0)
"""Rests that are, with an expiration of 3 s, too short and long enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Producers with rests in between; half of the rests are long."""

    producers: int = 6
    partitions: int = 2
    request_ms: int = 3_000
    name: str = "idle"

    @property
    def topics(self) -> Mapping[str, int]:
        """One topic for all."""
        return {"seldom": self.partitions}

    def roles(self) -> Sequence[Role]:
        """Each has a transactional id of its own."""
        idler = Role(name="idler", transactional_id="idler", run=self._run, request_ms=self.request_ms)
        return numbered(self.producers, idler)

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """Records anywhere."""
        return self._records(draw, records), draw.random() < 0.9

    def _run(self, actor: Actor, draw: Random) -> None:
        while not actor.over:
            for _ in range(draw.randint(1, 3)):
                actor.transact(self._records(draw, draw.randint(1, 3)), commit=draw.random() < 0.8)
            if draw.random() < 0.25:
                actor.retire()
            actor.pause(draw.uniform(*draw.choice((SHORT_SECONDS, LONG_SECONDS))))

    def _records(self, draw: Random, count: int) -> Sequence[RecordToWrite]:
        return [RecordToWrite(topic="seldom", partition=draw.randrange(self.partitions)) for _ in range(count)]
