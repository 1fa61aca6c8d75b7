"""A chaos run made up without a broker: tellers on a log of three partitions, storms, and one produce that comes late.

Whatever the draws, the history is one that an old Kafka could have left: the log holds what was acknowledged and what
was unsure, markers end transactions, levels follow the log, and nobody ends the late record's transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from harness.history.operation import (
    FaultWindow,
    Level,
    LogRecord,
    OpenProducer,
    Operation,
    Outcome,
    PartitionEnd,
    Phase,
    Value,
)

TOPIC, PARTITIONS = "fp-77-accounts", 3
LATE_AT, STUCK = 9_300.0, 1
"""When the late produce is let go, and the partition that it comes to."""
HEALED, END = 16_400.0, 20_000.0
PHASES = (
    Phase(name="calm", started=0.0, ended=3_000.0),
    Phase(name="storm", started=3_000.0, ended=9_400.0),
    Phase(name="calm", started=9_400.0, ended=11_500.0),
    Phase(name="storm", started=11_500.0, ended=16_000.0),
    Phase(name="heal", started=16_000.0, ended=HEALED),
    Phase(name="settle", started=HEALED, ended=END),
)
FAULTS = (
    FaultWindow(
        name="late-produce",
        kind="frames",
        where="victim lane of broker 2, Produce of teller-1",
        started=7_900.0,
        ended=LATE_AT,
        struck=1,
        how="Produce requests held until the transaction's EndTxn was answered",
    ),
    FaultWindow(
        name="latency",
        kind="network",
        where="link 1 → 2",
        started=3_400.0,
        ended=6_900.0,
        struck=184_320,
        how="bytes that went through the slowed link",
    ),
    FaultWindow(
        name="move-coordinator",
        kind="leadership",
        where="__transaction_state-14 to broker 3",
        started=12_000.0,
        ended=12_600.0,
        struck=1,
        how="leaders moved",
    ),
    FaultWindow(
        name="drop-response",
        kind="frames",
        where="rival lane of broker 3, EndTxn",
        started=12_200.0,
        ended=13_100.0,
        struck=0,
        how="responses dropped after the broker had applied the request",
    ),
    FaultWindow(
        name="kill",
        kind="process",
        where="broker 2",
        started=13_400.0,
        ended=15_700.0,
        struck=1,
        how="processes killed with signal 9 and started again",
    ),
)


@dataclass(slots=True, kw_only=True)
class Teller:
    """One role as it is being played."""

    role: str
    producer: int
    epoch: int = 0
    now: float = 0.0
    txn: int = 0
    incarnation: int = 1
    fresh: bool = False
    left: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0
    open: bool = False

    @property
    def actor(self) -> str:
        """Its name in the history."""
        return self.role if self.incarnation == 1 else f"{self.role}.{self.incarnation}"


@dataclass(slots=True, kw_only=True)
class Play:
    """The run as it goes on; its lists are the history's tables."""

    draw: Random
    operations: list[Operation] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    log: dict[int, list[LogRecord]] = field(default_factory=lambda: {place: [] for place in range(PARTITIONS)})
    open: dict[int, dict[int, int]] = field(default_factory=lambda: {place: {} for place in range(PARTITIONS)})
    sampled: float = 0.0
    late: Operation | None = None
    stranded: int | None = None

    def run(self) -> "Play":
        """Play it to its end."""
        tellers = [Teller(role=f"teller-{n}", producer=4_001 + n, now=40.0 * n, txn=n * 10_000_000) for n in range(4)]
        while (teller := min(tellers, key=lambda each: each.now)).now < HEALED:
            self._sample(teller.now)
            self._step(teller)
        self._sample(END - 1)
        return self

    @property
    def records(self) -> list[LogRecord]:
        """The raw log of all partitions."""
        return [record for place in sorted(self.log) for record in self.log[place]]

    def stable(self, place: int) -> int:
        """A partition's last stable offset."""
        stranded = [self.stranded] if place == STUCK and self.stranded is not None else []
        return min([*self.open[place].values(), *stranded, len(self.log[place])])

    def ends(self) -> list[PartitionEnd]:
        """What the broker says after settling."""
        return [
            PartitionEnd(
                at=END,
                topic=TOPIC,
                partition=place,
                log_start_offset=0,
                high_watermark=len(self.log[place]),
                last_stable_offset=self.stable(place),
                leader=place + 1,
            )
            for place in self.log
        ]

    def hanging(self) -> OpenProducer:
        """The producer state that is left."""
        record = self.log[STUCK][self.stranded or 0]
        return OpenProducer(
            topic=TOPIC,
            partition=STUCK,
            producer_id=record.producer_id,
            epoch=record.epoch,
            transaction_start_offset=record.offset,
            last_timestamp_ms=record.timestamp_ms or 0,
        )

    def _step(self, teller: Teller) -> None:
        if not teller.fresh:
            self._record(teller, "init", self.draw.uniform(8, 20), transactional_id=teller.role)
            teller.epoch, teller.fresh = teller.epoch + 1, True
        elif not teller.open:
            self._begin(teller)
        elif teller.left:
            self._produce(teller)
        else:
            self._end(teller)

    def _begin(self, teller: Teller) -> None:
        teller.txn, teller.open = teller.txn + 1, True
        amount, places = self.draw.randint(1, 100), self.draw.sample(range(PARTITIONS), 2)
        teller.left = [(places[0], f"money:{teller.txn % 24}:-{amount}"), (places[1], f"money:7:+{amount}")]
        teller.size = len(teller.left)
        self._record(teller, "begin", 0.01, txn=teller.txn, size=teller.size)

    def _produce(self, teller: Teller) -> None:
        place, payload = teller.left.pop(0)
        if teller.role == "teller-1" and self.late is None and teller.now > 7_900 and place == STUCK:
            return self._produce_late(teller, payload)
        unsure = self._stormy(teller.now) and self.draw.random() < 0.05
        if not unsure or self.draw.random() < 0.5:
            self._append(teller, place, payload)
        took = 1_500.0 if unsure and self.draw.random() < 0.3 else self.draw.lognormvariate(2.2, 0.5)
        self._write(teller, place, payload, took, unsure=unsure)
        if unsure:
            self._end(teller, verb="abort", succeed=True)
        return None

    def _produce_late(self, teller: Teller, payload: str) -> None:
        self.late = self._write(teller, STUCK, payload, 250.0, unsure=True)
        self._end(teller, verb="abort", succeed=True)

    def _write(self, teller: Teller, place: int, payload: str, took: float, *, unsure: bool) -> Operation:
        return self._record(
            teller,
            "produce",
            took,
            outcome=Outcome.UNSURE if unsure else Outcome.DONE,
            error=None if unsure else 0,
            reason="no answer within the bound" if unsure else "",
            txn=teller.txn,
            topic=TOPIC,
            partition=place,
            offset=None if unsure else len(self.log[place]) - 1,
            ordinal=teller.size - len(teller.left) - 1,
            size=teller.size,
            payload=payload,
        )

    def _end(self, teller: Teller, *, verb: str = "", succeed: bool = False) -> None:
        verb = verb or ("abort" if self.draw.random() < 0.15 else "commit")
        refused = self._stormy(teller.now) and not succeed and self.draw.random() < 0.02
        for place, still in self.open.items():
            if still.pop(teller.producer, None) is not None:
                self._append(teller, place, None, control="ABORT" if refused or verb == "abort" else "COMMIT")
        outcome = {"outcome": Outcome.REFUSED, "error": 47, "reason": "fenced by a newer epoch"} if refused else {}
        self._record(teller, verb, self.draw.lognormvariate(2.6, 0.6), txn=teller.txn, **outcome)
        if succeed or refused:
            self._record(teller, "close", 1.0)
            teller.incarnation, teller.fresh = teller.incarnation + 1, False
        teller.open, teller.left = False, []
        teller.now += self.draw.uniform(10, 240)

    def _append(self, teller: Teller, place: int, payload: str | None, control: str | None = None) -> None:
        log, ordinal = self.log[place], teller.size - len(teller.left) - 1
        value = (
            None if payload is None else str(Value(txn=teller.txn, ordinal=ordinal, size=teller.size, payload=payload))
        )
        if control is None:
            self.open[place].setdefault(teller.producer, len(log))
        log.append(
            LogRecord(
                topic=TOPIC,
                partition=place,
                offset=len(log),
                batch_offset=len(log),
                producer_id=teller.producer,
                epoch=teller.epoch,
                sequence=-1 if control else sum(each.producer_id == teller.producer for each in log),
                transactional=True,
                control=control,  # type: ignore[arg-type]
                coordinator_epoch=3 if control else None,
                value=value,
                timestamp_ms=1_790_000_000_000 + int(teller.now),
            )
        )

    def _record(self, teller: Teller, verb: str, took: float, **more: object) -> Operation:
        slow = 8.0 if 3_400 < teller.now < 6_900 and 1 < took < 1_000 else 1.0
        operation = Operation(
            number=len(self.operations) + 1,
            actor=teller.actor,
            client="wire-v1" if teller.role < "teller-2" else "librdkafka",
            verb=verb,  # type: ignore[arg-type]
            started=round(teller.now, 3),
            ended=round(teller.now + took * slow, 3),
            producer_id=teller.producer,
            epoch=teller.epoch,
            **{"outcome": Outcome.DONE, "transactional_id": teller.role, **more},  # type: ignore[arg-type]
        )
        self.operations.append(operation)
        teller.now = operation.ended
        return operation

    def _sample(self, now: float) -> None:
        while self.sampled + 100 <= now:
            self.sampled += 100
            if self.sampled >= LATE_AT and self.late is not None and self.stranded is None:
                self._arrive(self.late)
            self.levels += [
                Level(
                    at=self.sampled,
                    topic=TOPIC,
                    partition=place,
                    high_watermark=len(log),
                    last_stable_offset=self.stable(place),
                )
                for place, log in self.log.items()
            ]

    def _arrive(self, late: Operation) -> None:
        """The late record comes to the log after its transaction's end; no marker will ever end it."""
        gone = Teller(role="teller-1", producer=late.producer_id or 0, epoch=late.epoch or 0, now=LATE_AT, size=2)
        gone.txn, gone.left = late.txn or 0, [(0, "")] * (1 - (late.ordinal or 0))
        kept, self.stranded = dict(self.open[STUCK]), len(self.log[STUCK])
        self._append(gone, STUCK, late.payload)
        self.open[STUCK] = kept  # the next transaction of this producer id is another one

    @staticmethod
    def _stormy(now: float) -> bool:
        return any(phase.name == "storm" and phase.started <= now < phase.ended for phase in PHASES)


def played(seed: int = 71) -> Play:
    """The run of a seed."""
    return Play(draw=Random(seed)).run()


def tables(play: Play) -> Mapping[str, list[object]]:
    """The history's tables that the play fills."""
    return {
        "operations": list(play.operations),
        "faults": list(FAULTS),
        "phases": list(PHASES),
        "levels": list(play.levels),
        "log": list(play.records),
        "partitions": list(play.ends()),
        "producers": [play.hanging()],
    }
