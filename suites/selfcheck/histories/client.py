"""Clients of the model: each call begins, is applied or not, and ends, while others do the same in between.

Whatever can become of a request does: it is answered; it is lost on its way; its answer is lost; it arrives late, when
its sender has given up waiting, for as long as its transaction is open. The last three are *unsure*, and nobody but
the model knows what came of them.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

from harness.history.operation import Level, Operation, Outcome, Read, Value, Verb
from suites.selfcheck.histories.broker import Broker, Place, Refused

Steps: TypeAlias = Generator[None, None, None]
"""A role being played; others play whenever it yields."""

ILLEGAL = (10, 19, 87)
"""MESSAGE_TOO_LARGE, NOT_ENOUGH_REPLICAS, INVALID_RECORD: refusals that say nothing about the producer."""


@dataclass(slots=True, kw_only=True)
class Doubts:
    """How often what happens to a request: out of one, and the rest is answered."""

    lost: float = 0.02
    answer_lost: float = 0.02
    late: float = 0.01
    refused: float = 0.01


@dataclass(slots=True, kw_only=True)
class World:
    """What all clients of a history share: broker, clock, numbers, and what was recorded.

    :param first: Transactions and operations are numbered from here.
    """

    rng: Random
    broker: Broker
    doubts: Doubts
    first: int
    name: str
    now: float = 0.0
    operations: list[Operation] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    late: list[Callable[[], Any]] = field(default_factory=list)
    _numbers: int = 0
    _txns: int = 0

    def next_number(self) -> int:
        """A fresh operation number; every other one is left free for what is planted."""
        self._numbers += 2
        return self.first + self._numbers

    def next_txn(self) -> int:
        """A fresh transaction number."""
        self._txns += 1
        return self.first + self._txns

    def tick(self) -> float:
        """Time passes; markers and late requests arrive, and somebody looks at the levels."""
        self.now += self.rng.choice((0.25, 0.5, 1.0))
        if self.rng.random() < 0.5:
            self.broker.some_markers()
        if self.late and self.rng.random() < 0.3:
            self._arrive(self.late.pop(self.rng.randrange(len(self.late))))
        if self.rng.random() < 0.02:
            self._look()
        return self.now

    def _look(self) -> None:
        for place, log in self.broker.logs.items():
            stable = self.broker.last_stable_offset(place)
            self.levels.append(
                Level(
                    at=self.now,
                    topic=place[0],
                    partition=place[1],
                    high_watermark=len(log),
                    last_stable_offset=stable,
                )
            )

    @staticmethod
    def _arrive(request: Callable[[], Any]) -> None:
        try:
            request()
        except Refused:
            return  # nobody hears it


@dataclass(slots=True, kw_only=True)
class Client:
    """One actor: a name, a library, and what it knows of its producer.

    :param claims: The assignments under which it polled last.
    :param kind: ``wire-v2``, ``wire-v1`` or ``librdkafka``, which tells nothing of its producer.
    """

    world: World
    actor: str
    kind: str
    transactional_id: str
    sure: bool = False
    group: str | None = None
    identity: tuple[int, int] = (-1, -1)
    txn: int = 0
    size: int = 0
    written: int = 0
    last: Outcome = Outcome.DONE
    claims: dict[Place, tuple[str, int]] = field(default_factory=dict)
    _delivered: int = 0

    @property
    def done(self) -> bool:
        """Whether the last call was done."""
        return self.last is Outcome.DONE

    def init(self) -> Steps:
        """InitProducerId."""

        def apply() -> None:
            self.identity = self.world.broker.init(self.transactional_id)

        before = self.identity
        yield from self._call("init", apply, told={}, late=False)
        if not self.done:
            self.identity = before

    def begin(self, size: int) -> Steps:
        """A local call: nothing is sent."""
        self.txn, self.size, self.written = self.world.next_txn(), size, 0
        yield from self._call("begin", lambda: None, told={"txn": self.txn, "size": size}, late=False, local=True)

    def produce(self, place: Place, payload: str = "") -> Steps:
        """One record."""
        value = Value(txn=self.txn, ordinal=self.written, size=self.size, payload=payload)
        self.written += 1
        identity, txn = self.identity, self.txn

        def apply() -> int:
            return self.world.broker.produce(self.transactional_id, identity, txn, place, str(value))

        told = {
            "txn": txn,
            "topic": place[0],
            "partition": place[1],
            "ordinal": value.ordinal,
            "size": value.size,
            "payload": payload,
        }
        yield from self._call("produce", apply, told=told)

    def send_offsets(self, place: Place, offset: int) -> Steps:
        """The next offset of an input."""
        assert self.group is not None
        next_of, identity, txn, member = (self.group, place, offset), self.identity, self.txn, self.claims[place]

        def apply() -> None:
            self.world.broker.send_offsets(self.transactional_id, identity, txn, member, next_of)

        told = {"txn": txn, "group": self.group, "topic": place[0], "partition": place[1], "offset": offset}
        yield from self._call("send_offsets", apply, told=told)

    def end(self, *, commit: bool) -> Steps:
        """EndTxn; with Transactions V2 the answer brings the next epoch."""
        identity, txn = self.identity, self.txn

        def apply() -> None:
            control, bumps = "COMMIT" if commit else "ABORT", self.kind == "wire-v2"
            epoch = self.world.broker.end(self.transactional_id, identity, txn, control, bumps=bumps)  # type: ignore[arg-type]
            self.identity = (identity[0], epoch)

        yield from self._call("commit" if commit else "abort", apply, told={"txn": txn})
        if not self.done:
            self.identity = identity

    def poll(self, owned: Sequence[tuple[Place, int]], most: int) -> Generator[None, None, list[tuple[Place, int]]]:
        """Committed records of places from offsets on: what is delivered, as place and offset."""
        number, started = self.world.next_number(), self.world.tick()
        yield
        found = [read for place, start in owned for read in self._visible(place, start)][:most]
        at = self.world.tick()
        for read in found:
            self.world.reads.append(
                Read(reader=self.actor, position=self._delivered, at=at, **_of(read, self.world.broker))
            )
            self._delivered += 1
        self._record("poll", number, started, Outcome.DONE, 0, "", {"count": len(found), "group": self.group})
        return found

    def close(self) -> Steps:
        """The actor's end."""
        yield from self._call("close", lambda: None, told={}, late=False, local=True)

    def _visible(self, place: Place, start: int) -> list[tuple[Place, int]]:
        broker = self.world.broker
        log, stable = broker.logs[place], broker.last_stable_offset(place)
        fates: dict[int, str] = {}
        shown: list[tuple[Place, int]] = []
        for record in reversed(log[:stable]):
            if record.control is not None:
                fates[record.producer_id] = record.control
            elif fates.get(record.producer_id) == "COMMIT" and record.offset >= start:
                shown.append((place, record.offset))
        return shown[::-1]

    def _call(
        self, verb: Verb, apply: Callable[[], Any], *, told: dict[str, Any], late: bool = True, local: bool = False
    ) -> Steps:
        world, doubts = self.world, self.world.doubts
        number, started = world.next_number(), world.tick()
        yield
        chance = 2.0 if local or self.sure else world.rng.random()
        outcome, error, reason, answer = Outcome.UNSURE, None, "no answer came", None
        if chance < doubts.lost:
            pass
        elif chance < doubts.lost + doubts.late and late:
            world.late.append(lambda: self._still_open(told["txn"]) and apply())
        elif chance < doubts.lost + doubts.late + doubts.refused and verb == "produce":
            outcome, error, reason = Outcome.REFUSED, world.rng.choice(ILLEGAL), "the broker says no"
        else:
            lost = chance < doubts.lost + doubts.late + doubts.refused + doubts.answer_lost
            outcome, error, reason, answer = self._applied(apply, lost=lost)
        yield
        self.last = outcome
        self._record(verb, number, started, outcome, error, reason, {"offset": answer, **told})

    def _applied(self, apply: Callable[[], Any], *, lost: bool) -> tuple[Outcome, int | None, str, int | None]:
        try:
            answer = apply()
        except Refused as refused:
            if lost:
                return Outcome.UNSURE, None, "no answer came", None
            return Outcome.REFUSED, refused.error, "the broker says no", None
        if lost:
            return Outcome.UNSURE, self.world.rng.choice((None, 7)), "no answer came", None
        return Outcome.DONE, 0, "", answer

    def _still_open(self, txn: int) -> bool:
        return self.world.broker.producing[self.transactional_id].txn == txn

    def _record(
        self, verb: Verb, number: int, started: float, outcome: Outcome, error: int | None, reason: str, told: Any
    ) -> None:
        known = self.identity if self.kind != "librdkafka" and self.identity[0] >= 0 else (None, None)
        self.world.operations.append(
            Operation(
                number=number,
                actor=self.actor,
                client=self.kind,
                verb=verb,
                started=started,
                ended=self.world.tick(),
                outcome=outcome,
                error=error,
                reason=reason,
                transactional_id=self.transactional_id,
                producer_id=known[0],
                epoch=known[1],
                tries=1,
                **told,
            )
        )


def _of(read: tuple[Place, int], broker: Broker) -> dict[str, Any]:
    place, offset = read
    return {"topic": place[0], "partition": place[1], "offset": offset, "value": broker.logs[place][offset].value}
