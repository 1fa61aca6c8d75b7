"""Careless clients: beside their transactions they ask what no correct client asks, and look at what is told of them.

Each request claims an identity, its own or a wrong one, in a moment that may be wrong as well: before anybody had the
transactional id, in the middle of a transaction, after its end. Most must be refused; whatever is answered must be what
the protocol's model answers. What might end or enter the client's own next transaction is asked only where an ``init``
follows, whose epoch fences it, however late it arrives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import Role, numbered
from harness.chaos.play.actor import Actor
from harness.evidence.history.asked_request import AskedApi, AskedRequest
from harness.evidence.history.operation import Outcome
from harness.kafka.retriable import TRANSIENT

Identity: TypeAlias = tuple[int, int]
NONE: Identity = (-1, -1)
NOBODYS = 1_000_000_000
"""Added to a producer id, once or twice: nobody has that one."""
TOPIC = "shared"
NEVER_HARMFUL: Mapping[AskedApi, Sequence[str]] = {
    "InitProducerId": ("other", "half-id", "half-epoch"),
    "AddPartitionsToTxn": ("own", "older", "former", "other"),
    "Produce": ("older", "former", "other"),
    "EndTxn": ("older", "former", "other"),
    "DescribeTransactions": ("own",),
}
"""What may be claimed in the middle of a transaction: whenever it arrives, nothing of the client's own is ended."""
BEFORE_INIT: Mapping[AskedApi, Sequence[str]] = {
    **NEVER_HARMFUL,
    "InitProducerId": ("own", "older", "newer", "other", "half-id", "half-epoch"),
    "Produce": ("stranger",),
}
"""Of an id that nobody knows, with the identity of another one, whose producer ids leaders may know."""
CLAIMS_OF_ALL: Mapping[AskedApi, Sequence[str]] = {
    "InitProducerId": ("own", "older", "newer", "former", "other", "half-id", "half-epoch"),
    "AddPartitionsToTxn": ("own", "older", "newer", "former", "other"),
    "DescribeTransactions": ("own",),
}
WRITES: Mapping[AskedApi, Sequence[str]] = {
    **CLAIMS_OF_ALL,
    "Produce": ("own", "older", "former", "other"),
    "EndTxn": ("older", "former", "other"),
}
"""Where an ``init`` follows, which aborts what is written so."""
ENDS: Mapping[AskedApi, Sequence[str]] = {
    **CLAIMS_OF_ALL,
    "Produce": ("older", "former", "other"),
    "EndTxn": ("own", "older", "former", "other"),
}
"""Where an ``init`` follows and nothing is written that an end could commit."""
INITS: Mapping[AskedApi, Sequence[str]] = {"InitProducerId": BEFORE_INIT["InitProducerId"]}
"""The first question to an id that nobody knows, as that of a client whose id was forgotten (KIP-360)."""
OWN_ALONE: Sequence[Mapping[AskedApi, Sequence[str]]] = tuple(
    {api: ("own",)} for api in ("InitProducerId", "AddPartitionsToTxn", "Produce")
)
"""One API with the client's own identity, where an ``init`` follows: requests that are repeated, or wrong in one thing
alone, as a batch that is too large or a partition that is not there."""
AFTER_END = (WRITES, ENDS, *OWN_ALONE)
PAUSES = (0, 0, 0.02, 0.05, 0.2)
"""Seconds before a request, so that it comes while the markers of an end are under way, or after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Careless:
    """Clients with a transactional id each, and another one after each answer that did not come.

    :param epochs_left: To the ids of every other client and its first successors.
    """

    clients: int = 8
    partitions: int = 3
    request_ms: int = 3_000
    epochs_left: Sequence[int] = (2, 5, 3, 9, 1, 4, 7, 3)
    name: str = "careless"

    @property
    def topics(self) -> Mapping[str, int]:
        """One topic for all."""
        return {TOPIC: self.partitions}

    def roles(self) -> Sequence[Role]:
        """All alike, but for the epochs that are left to their producer ids."""
        careless = Role(
            name="careless",
            transactional_id="careless",
            run=self._run,
            fresh_ids=True,
            request_ms=self.request_ms,
        )
        return [
            replace(role, epochs_left=self.epochs_left if number // 2 % 2 else ())
            for number, role in enumerate(numbered(self.clients, careless))
        ]

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """Records beside those of the careless."""
        partitions = [draw.randrange(self.partitions) for _ in range(records)]
        return [RecordToWrite(topic=TOPIC, partition=partition) for partition in partitions], draw.random() < 0.8

    def _run(self, actor: Actor, draw: Random) -> None:
        _CarelessRole(actor, draw, self.partitions).run()


@dataclass(slots=True)
class _CarelessRole:
    """One client after the other.

    :param latest: The present client's identity. :param former: Its last one with the producer id before.
    """

    actor: Actor
    draw: Random
    partitions: int
    latest: Identity = NONE
    former: Identity = NONE

    def run(self) -> None:
        """Each until an answer does not come, or by chance."""
        before = NONE
        while not self.actor.over:
            if before != NONE and not self._ask(self.draw.choice((BEFORE_INIT, INITS)), before):
                self.actor.retire()
                continue
            incarnation, self.latest, self.former = self.actor.incarnation, NONE, NONE
            while self.actor.incarnation == incarnation and not self.actor.over:
                self._go_on()
            before = before if self.latest == NONE else self.latest

    def _go_on(self) -> None:
        """A transaction, then questions, whose effects an ``init`` ends."""
        incarnation, leaves, claims = self.actor.incarnation, self.draw.random(), self.draw.choice(AFTER_END)
        self._transact()
        self._note_identity()
        if self.actor.incarnation != incarnation:
            return
        if leaves < 0.2 or not self._ask(claims, self.actor.identity):
            self.actor.retire()
        elif self.actor.can_ask:
            self.actor.init_again()
            self._note_identity()

    def _note_identity(self) -> None:
        identity = self.actor.identity
        if identity == NONE:
            return
        if identity[0] != self.latest[0]:
            self.former = self.latest
        self.latest = identity

    def _transact(self) -> None:
        actor, draw = self.actor, self.draw
        partitions = [draw.randrange(self.partitions) for _ in range(draw.randint(1, 3))]
        asking, commit = draw.random() < 0.5, draw.random() < 0.7
        records = [RecordToWrite(topic=TOPIC, partition=partition) for partition in partitions]
        if not actor.begin(len(records)):
            return
        self._note_identity()
        for place, record in enumerate(records):
            if not actor.write(record):
                actor.give_up()
                return
            if asking and not self._ask_within(partitions[: place + 1]):
                actor.give_up()
                return
        actor.end(commit=commit)

    def _ask_within(self, written: Sequence[int]) -> bool:
        """In the middle of a transaction, with the partitions of its records so far; False as :meth:`_ask`."""
        return self._ask(NEVER_HARMFUL, self.actor.identity) and self._write_beside(written)

    def _write_beside(self, written: Sequence[int]) -> bool:
        """A batch of no transaction, now and then, where one of the producer's is open; False as :meth:`_ask`.

        Whenever it arrives it is refused, because the end raises the epoch; so only clients of Transactions V2 do it.
        """
        if not self.actor.bumps_epoch or self.draw.random() < 0.7:
            return True
        producer_id, epoch = self.actor.identity
        asked = AskedRequest(
            api="Produce",
            producer_id=producer_id,
            epoch=epoch,
            topic=self.actor.topics[TOPIC],
            partition=written[-1],
            sequence=written.count(written[-1]),
            transactional=False,
        )
        return self._is_known(asked)

    def _ask(self, claims: Mapping[AskedApi, Sequence[str]], identity: Identity) -> bool:
        """One to six requests, some of them twice; False after one that may still do something.

        Its client is to have a successor: its own transactions would go on beside it, and nobody could tell what
        became of which.
        """
        asked = None
        for _ in range(self.draw.randint(1, 6)):
            self.actor.pause(self.draw.choice(PAUSES))
            asked = asked if asked and self.draw.random() < 0.25 else self._request(claims, identity)
            if not self._is_known(asked):
                return False
        return True

    def _is_known(self, asked: AskedRequest) -> bool:
        """Whether all that a request may ever do was told by its answer, or nobody can send it."""
        answer = self.actor.ask(asked)
        if answer is None:
            return True
        later = answer.error in TRANSIENT and asked.api in ("InitProducerId", "Produce")
        return answer.outcome is not Outcome.UNSURE and not later

    def _request(self, claims: Mapping[AskedApi, Sequence[str]], identity: Identity) -> AskedRequest:
        draw, topic = self.draw, self.actor.topics[TOPIC]
        api = draw.choice(list(claims))
        producer_id, epoch = _claimed(draw.choice(claims[api]), identity, self.former)
        unknown, elsewhere = (api == "DescribeTransactions" and draw.random() < 0.3 for _ in range(2))
        missing = api == "AddPartitionsToTxn" and draw.random() < 0.2
        asked = AskedRequest(
            api=api,
            transactional_id=f"{topic}-nobody" if unknown else "",
            producer_id=producer_id,
            epoch=epoch,
            topic=topic if api in ("AddPartitionsToTxn", "Produce") else "",
            partition=draw.randrange(self.partitions) + (self.partitions if missing else 0),
            missing=missing,
            elsewhere=elsewhere,
        )
        return self._with_own_fields(asked)

    def _with_own_fields(self, asked: AskedRequest) -> AskedRequest:
        """With what requests of one API alone have."""
        draw, writes = self.draw, asked.api == "Produce"
        sequence, too_large = draw.choice((0, 0, 7)) if writes else 0, writes and draw.random() < 0.3
        chance = draw.random()
        too_long = asked.api == "InitProducerId" and chance < 0.2
        return replace(asked, sequence=sequence, too_large=too_large, commit=chance < 0.5, too_long=too_long)


def _claimed(how: str, identity: Identity, former: Identity) -> Identity:
    """A producer id and an epoch; in epoch 0, before which there is none, another's producer id for an older epoch."""
    producer_id, epoch = identity
    match how:
        case "older" if epoch > 0:
            return producer_id, epoch - 1
        case "newer":
            return producer_id, epoch + 1
        case "former" if former != NONE:
            return former
        case "half-id":
            return producer_id, -1
        case "half-epoch":
            return -1, epoch
        case "own":
            return identity
        case "stranger":
            return 2 * NOBODYS + producer_id, max(0, epoch)
        case _:
            return NOBODYS + producer_id, max(0, epoch)
