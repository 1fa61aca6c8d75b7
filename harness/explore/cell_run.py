"""One cell on its way: what it asks next, what the model says to it, and what was answered."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from harness.base.kafka_error import error_name
from harness.explore.asker import Outgoing
from harness.explore.cell_identities import CellIdentities
from harness.explore.cell_results import (
    NOT_THE_CELLS,
    CellExchange,
    CellSeen,
    Difference,
    SeenId,
    SeenLog,
    SeenProducer,
    SeenStart,
)
from harness.explore.comparison import compare, compare_records
from harness.explore.looks.group_look import GroupToLookAt, committed_offset
from harness.explore.looks.pool_look import PoolLook
from harness.explore.looks.seen_record import seen_record
from harness.explore.passing_answers import MAY_BE_DONE, PASSING, WHY_UNSURE
from harness.model.alphabet import PARTITIONS
from harness.model.coordinator_log import Records, records_of, without_repetitions
from harness.model.events.model_event import MarkersWait, ModelEvent, ModelStep, after_event
from harness.model.events.write_events import WriteEvent, WriteWaits, after_writes, let_go, waiting_write
from harness.model.grid import GridCell
from harness.model.model_requests import ModelAnswer, ModelRequest, TxnOffsetCommitAsked
from harness.model.model_state import GROUP, NONE, CoordinatorState, LogEntry, ModelCluster, fresh_cluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.protocol_step import outcomes, settled
from harness.wire.records.record_batch import LogBatch, text
from harness.wire.records.transaction_state import TransactionState
from harness.wire.requests.transactions.describe_producers import ActiveProducer
from harness.wire.requests.transactions.describe_transactions import DescribedTransaction
from harness.wire.topic_partitions import TopicPartition

TIMED_OUT = "this machine was too slow: the transaction may have timed out before that was due"


@dataclass(frozen=True, slots=True)
class AllowedStep:
    """An answer that the model allows.

    :param after: The state once every marker is written. :param ending: The ids whose markers are under way until then.
    """

    answer: ModelAnswer
    after: ModelCluster
    ending: frozenset[str]


@lru_cache(maxsize=1 << 16)
def allowed_steps(
    before: ModelCluster, asked: ModelRequest, profile: ProtocolProfile, *, held: bool = False
) -> tuple[AllowedStep, ...]:
    """What a request may answer in a state; many cells have the same beginning.

    :param held: Markers lie on their links, so that nothing settles.
    """
    found = outcomes(before, asked, profile)
    return tuple(_step(each.answer, each.after, each.after if held else settled(each.after, profile)) for each in found)


def _step(answer: ModelAnswer, after: ModelCluster, done: ModelCluster) -> AllowedStep:
    return AllowedStep(answer, done, completed_between(after, done))


def completed_between(after: ModelCluster, done: ModelCluster) -> frozenset[str]:
    """Ids whose transactions were ending, and are not any more."""
    ending = {name for name, known in after.ids.items() if known.state.preparing and not done.ids[name].state.preparing}
    return frozenset(ending)


@dataclass(slots=True, kw_only=True)
class CellRun:
    """A cell with its real names.

    :param step: How far it is on its path; what is asked is behind the last.
    :param expected: The state in which the model is. :param ending: Ids whose markers are under way.
    :param held: Markers lie on their links.
    :param began: When its last request was sent first. :param opened: That of the one that began its transaction.
    :param strayed: The first step of the path that was answered otherwise than the model says.
    :param missed: Why it was not reached although nothing was answered otherwise.
    :param unsure: Whether a request that was sent again may have been carried out at first.
    :param answer: To what was asked. :param to_writes: To the writes of its last event, in their order.
    :param starts: Of open transactions, as they were shown first, by id.
    """

    number: int
    cell: GridCell
    who: CellIdentities
    profile: ProtocolProfile
    step: int = 0
    expected: ModelCluster = field(init=False)
    ending: frozenset[str] = frozenset()
    held: bool = False
    began: float = 0.0
    opened: float | None = None
    strayed: Difference | None = None
    missed: str | None = None
    unsure: bool = False
    answer: ModelAnswer | None = None
    to_writes: list[ModelAnswer] = field(default_factory=list)
    sent: list[CellExchange] = field(default_factory=list)
    starts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing was asked yet."""
        self.expected = fresh_cluster(*sorted(self.cell.before.logs))

    @property
    def next_step(self) -> ModelStep | None:
        """Of the path, or behind it what is asked; None where nothing is left."""
        if self.strayed is not None or self.missed is not None or self.step > len(self.cell.path):
            return None
        return self.cell.asked if self.step == len(self.cell.path) else self.cell.path[self.step]

    @property
    def next_request(self) -> ModelRequest | None:
        """None where an event comes first, or nothing is left."""
        following = self.next_step
        return None if isinstance(following, ModelEvent) else following

    @property
    def next_event(self) -> ModelEvent | None:
        """None where a request comes first, or nothing is left."""
        following = self.next_step
        return following if isinstance(following, ModelEvent) else None

    @property
    def waiting(self) -> WriteWaits | None:
        """The write of its path that is under way when it is asked."""
        return waiting_write(self.cell.path)

    def passing(self, asked: ModelRequest, answer: ModelAnswer) -> bool:
        """Whether the answer is one that passes, and the model does not expect it."""
        steps = allowed_steps(self.expected, asked, self.profile, held=self.held)
        return answer.error in PASSING and all(each.answer.error != answer.error for each in steps)

    def note_passed(self, answer: ModelAnswer) -> None:
        """It is asked again."""
        self.unsure = self.unsure or answer.error in MAY_BE_DONE

    def take(self, asked: ModelRequest, answer: ModelAnswer) -> None:
        """Go on in the state that the answer leads to."""
        steps = allowed_steps(self.expected, asked, self.profile, held=self.held)
        fitting = next((each for each in steps if each.answer == answer), None)
        self.ending = frozenset() if fitting is None else fitting.ending
        if self.step == len(self.cell.path):
            self.answer = answer
        elif fitting is None:
            self.note_late()
            self.missed = self.missed or self.doubt(answer)
            if self.missed is None:
                self.stray(" or ".join(answer_text(each.answer) for each in steps), answer_text(answer))
            return
        self.step += 1
        if fitting is not None:
            self._go_on(fitting.after)

    def _after(self, event: ModelEvent) -> ModelCluster:
        """It strays where writes of the event were answered otherwise."""
        if not isinstance(event, WriteEvent):
            return after_event(self.expected, event, self.profile)
        left = after_writes(self.expected, event, self.profile)
        if tuple(self.to_writes) not in left.allowed:
            self.stray(" or ".join(map(_told, left.allowed)), _told(self.to_writes))
        return left.after

    def stray(self, expected: str, seen: str) -> None:
        """The step was answered otherwise than the model says; nothing more is asked."""
        self.strayed = Difference(part=f"step {self.step + 1}", expected=expected, seen=seen)

    def happened(self) -> None:
        """The next step is an event, and has come about."""
        event = self.next_event
        assert event is not None, "an event that is no step of this cell"
        self.sent.append(CellExchange(asked=str(event), sent="", node=NONE, version=NONE, answered="it has come about"))
        after = self._after(event)
        self.held = self.held or isinstance(event, MarkersWait)
        self.step += 1
        self._go_on(after)

    def let_go(self) -> None:
        """What was held until now is not any more."""
        before, write = self.expected, self.waiting
        if self.answer is not None and write is not None:
            before = let_go(self.cell.before, before, write, self.profile).after
        done = settled(before, self.profile)
        self.held, self.ending = False, completed_between(before, done)
        self._go_on(done)

    def note_late(self) -> None:
        """What is too late is missed."""
        if self.missed is None and self.is_late():
            self.missed = TIMED_OUT

    def doubt(self, answer: ModelAnswer) -> str | None:
        """Why this answer may differ; None where it is sure, or passes for ever."""
        return WHY_UNSURE if self.unsure and answer.error not in PASSING else None

    def is_late(self) -> bool:
        """Whether its open transaction may have outlived its timeout, unasked; one that went astray is told as that."""
        if self.strayed is not None or self.opened is None:
            return False
        return (time.monotonic() - self.opened) * 1000 >= self.who.timeout_ms

    def _go_on(self, after: ModelCluster) -> None:
        open_now = _is_open(after)
        if not open_now:
            self.opened = None
        elif not _is_open(self.expected):
            self.opened = self.began
        self.expected = after
        self.starts = {name: since for name, since in self.starts.items() if _ongoing(after, name)}

    @property
    def commits_offsets(self) -> bool:
        """Whether anything is committed in the cell's group."""
        return any(isinstance(each, TxnOffsetCommitAsked) for each in (*self.cell.path, self.cell.asked))

    def group(self, coordinators: Mapping[TopicPartition, int]) -> GroupToLookAt:
        """The cell's. :param coordinators: By the partition that keeps the group."""
        settled = not self.expected.groups[GROUP].pending
        return GroupToLookAt(
            coordinator=coordinators[self.who.places[GROUP]], place=self.who.places[PARTITIONS[0]], settled=settled
        )

    @property
    def beginning(self) -> tuple[ModelStep, ...] | None:
        """Of the path, up to where it strayed; None where it did not."""
        return None if self.strayed is None else (*self.cell.path, self.cell.asked)[: self.step + 1]

    def compared(self, seen: CellSeen) -> tuple[Difference, ...]:
        """What was answered and seen with all that the model allows; where that agrees, what was written too."""
        found = compare(self.cell.before, self.cell.asked, self.profile, seen, self.waiting)
        return found or compare_records(records_of(self.cell, self.profile), seen)

    def seen(self, look: PoolLook) -> CellSeen | None:
        """The answer and the look, in the model's words; None where what is asked was not reached."""
        answer = self.answer
        if answer is None or self.missed is not None:
            return None
        ids = {name: self._id(name, look.ids[real]) for name, real in self.who.ids.items()}
        logs = {name: self._log(name, look) for name in self.cell.before.logs if name in self.who.places}
        groups = {GROUP: look.groups[self.who.group]} if self.who.group in look.groups else {}
        waited = next(iter(self.to_writes), None) if self.waiting is not None else None
        records = None if look.records is None else self._records(look.records)
        return CellSeen(answer=answer, ids=ids, logs=logs, groups=groups, waited=waited, records=records)

    def _records(self, read: Mapping[str, Sequence[TransactionState]]) -> Records:
        return {
            name: without_repetitions(seen_record(each, name, self.who) for each in read[real])
            for name, real in self.who.ids.items()
        }

    def _id(self, name: str, shown: DescribedTransaction) -> SeenId:
        error = error_name(shown["error"])
        if shown["error"]:
            return SeenId(error=error)
        return SeenId(
            state=shown["state"],
            producer_id=self.who.given(shown["producer_id"], name),
            epoch=shown["producer_epoch"],
            partitions=self.who.named(shown["partitions"]),
            timeout_ms=NONE if shown["timeout_ms"] == self.who.timeout_ms else shown["timeout_ms"],
            start=self._start(name, shown),
        )

    def _start(self, name: str, shown: DescribedTransaction) -> SeenStart:
        if shown["state"] != CoordinatorState.ONGOING:
            return SeenStart.KEPT
        started = shown["start_time_ms"]
        if started < 0:
            return SeenStart.MISSING
        return SeenStart.KEPT if self.starts.get(name, started) == started else SeenStart.MOVED

    def note_starts(self, shown: Mapping[str, DescribedTransaction]) -> None:
        """Of transactions that are open before the next step; by real names."""
        for name in self.open_ids:
            if (now := shown.get(self.who.ids[name])) is not None:
                self.starts.setdefault(name, now["start_time_ms"])

    @property
    def open_ids(self) -> frozenset[str]:
        """Those that the model has in Ongoing, while anything is left to ask."""
        known = self.expected.ids if self.next_step is not None else ()
        return frozenset(name for name in known if _ongoing(self.expected, name))

    def _log(self, name: str, look: PoolLook) -> SeenLog:
        place = self.who.places[name]
        by_producer, shown = look.batches[place], look.producers[place]
        batches = [batch for each in self.who.producer_ids for batch in by_producer.get(each, ())]
        batches.sort(key=lambda batch: batch.base_offset)
        offsets = {batch.base_offset: index for index, batch in enumerate(batches)}
        producers = tuple(self._producer(shown[each], offsets) for each in self.who.producer_ids if each in shown)
        entries = tuple(self._entry(batch, of_group=name == GROUP) for batch in batches)
        return SeenLog(producers=producers, entries=entries)

    def _producer(self, shown: ActiveProducer, offsets: Mapping[int, int]) -> SeenProducer:
        since = shown["current_txn_start_offset"]
        producer_id = self.who.symbol(shown["producer_id"])
        return SeenProducer(
            producer_id=producer_id,
            epoch=shown["producer_epoch"],
            last_sequence=shown["last_sequence"],
            open_since=None if since < 0 else offsets.get(since, NOT_THE_CELLS),
            coordinator_epoch=self.who.relative_coordinator_epoch(shown["coordinator_epoch"], producer_id),
        )

    def _entry(self, batch: LogBatch, *, of_group: bool) -> LogEntry:
        marker = None if batch.control is None else batch.control == "COMMIT"
        value = None if marker is not None else batch.records[0].value
        return LogEntry(
            producer_id=self.who.symbol(batch.producer_id),
            epoch=batch.producer_epoch,
            sequence=batch.base_sequence,
            marker=marker,
            value="" if value is None or of_group else text(value),
            offset=NONE if value is None or not of_group else committed_offset(value),
        )


def exchange(asked: ModelRequest, out: Outgoing, answered: str, tries: int = 1) -> CellExchange:
    """What was sent and answered, for a person."""
    return CellExchange(
        asked=str(asked), sent=str(out.request), node=out.node, version=out.version, answered=answered, tries=tries
    )


def answer_text(answer: ModelAnswer) -> str:
    """The code, and the identity where it tells one."""
    told = f", producer {answer.producer_id} epoch {answer.epoch}" if answer.producer_id >= 0 else ""
    return f"{answer.error}{told}{answer.state and ', '}{answer.state}"


def _told(answers: Sequence[ModelAnswer]) -> str:
    return ", ".join(map(answer_text, answers))


def _is_open(cluster: ModelCluster) -> bool:
    return any(_ongoing(cluster, name) for name in cluster.ids)


def _ongoing(cluster: ModelCluster, name: str) -> bool:
    return cluster.ids[name].state is CoordinatorState.ONGOING
