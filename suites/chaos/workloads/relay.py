"""Relay: consume, transform, produce, and commit the input's offsets in the same transaction, by members of a group.

Members come and go, so the group rebalances; whatever happens, each input has exactly one visible output, and the
group's offsets say exactly which inputs have one (KIP-447, ``sendOffsetsToTransaction``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import Role
from harness.chaos.play.actor import Actor
from harness.evidence.history.delivered_record import DeliveredRecord

GROUP = "relay"
POLL_MS = 200
MOST_OUTPUTS = 8
"""Outputs of one transaction at most."""
LEAVES = 0.03
"""Chance after each transaction that a member leaves and comes back under a new name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """Feeders fill the inputs; relayers carry them to the outputs."""

    feeders: int = 1
    relayers: int = 3
    partitions: int = 3
    request_ms: int = 3_000
    name: str = "relay"

    @property
    def topics(self) -> Mapping[str, int]:
        """Inputs and outputs, and what the crowd writes."""
        return {"inputs": self.partitions, "outputs": self.partitions, "beside": self.partitions}

    def roles(self) -> Sequence[Role]:
        """Feeders on the rival's lane, relayers on the victim's."""
        feeders = [
            Role(
                name=f"feeder-{number}",
                transactional_id=f"feeder-{number}",
                run=self._feed,
                lane="rival",
                request_ms=self.request_ms,
            )
            for number in range(self.feeders)
        ]
        relayers = [
            Role(
                name=f"relayer-{number}",
                transactional_id=f"relayer-{number}",
                run=self._relay,
                group=GROUP,
                request_ms=self.request_ms,
            )
            for number in range(self.relayers)
        ]
        return [*feeders, *relayers]

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """Records of a topic that nobody carries: what the crowd writes would be more than the relayers can."""
        partitions = [draw.randrange(self.partitions) for _ in range(records)]
        written = [RecordToWrite(topic="beside", partition=partition) for partition in partitions]
        return written, draw.random() < 0.85

    def _feed(self, actor: Actor, draw: Random) -> None:
        while not actor.over:
            partitions = [draw.randrange(self.partitions) for _ in range(draw.randint(1, 4))]
            commit = draw.random() < 0.85
            actor.transact(
                [RecordToWrite(topic="inputs", partition=partition) for partition in partitions], commit=commit
            )
            actor.pause(draw.uniform(0.01, 0.06))

    def _relay(self, actor: Actor, draw: Random) -> None:
        while not actor.over:
            member = actor.incarnation
            if not actor.client.subscribe([actor.topics["inputs"]]).done:
                actor.retire()
                actor.pause(0.2)
            while not actor.over and member == actor.incarnation:
                self._poll_once(actor, draw, member)

    def _poll_once(self, actor: Actor, draw: Random, member: int) -> None:
        """One poll, and transactions for what it brought; a new member begins again at the committed offsets."""
        polled = actor.client.poll(POLL_MS)
        if not polled.done:
            actor.retire()
            return
        for start in range(0, len(polled.records), MOST_OUTPUTS):
            committed = self._transact(actor, draw, polled.records[start : start + MOST_OUTPUTS])
            if member != actor.incarnation:
                return
            if not committed or draw.random() < LEAVES:
                actor.retire()
                return

    def _transact(self, actor: Actor, draw: Random, inputs: Sequence[DeliveredRecord]) -> bool:
        """One transaction: an output for each input, and the offsets after them."""
        records = [
            RecordToWrite(
                topic="outputs", partition=draw.randrange(self.partitions), payload=f"relay:{topic}-{part}@{offset}"
            )
            for topic, part, offset, _ in inputs
        ]
        nexts = {(topic, part): offset + 1 for topic, part, offset, _ in inputs}
        offsets = [(topic, part, after) for (topic, part), after in nexts.items()]
        return actor.transact(records, commit=draw.random() < 0.9, offsets=offsets)
