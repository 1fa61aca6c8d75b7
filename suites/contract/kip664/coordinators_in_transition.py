"""Rounds of looks at a broker that begins or ceases to coordinate an id, and what may be said meanwhile."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

from harness.base.json_value import Json
from harness.base.wait import TimedOut, until
from harness.contract import Evidence, KafkaError
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Producer
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn

ResultT = TypeVar("ResultT", bound=ApiResult)

LOADING, STOPPING = KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE
RECORDS = 150_000
"""In the log of the coordinator: enough that it is asked several times while it loads them."""
LOADED_SECONDS = 30.0
"""Within which it must have loaded them."""
MOVES = 4
"""At most, until the coordinator was asked while it loads: it may have loaded before its first request comes."""
STOPPING_SECONDS = 1.0
"""For one answer of a broker that stops, which may leave a request unanswered."""
BEFORE, LOOK, AFTER = "added before", "look", "added after"


class Rounds:
    """Each round has a look at the broker between two requests that show whether it coordinates the id.

    They add the partition that the transaction has already, which changes nothing. A round with the same errors as the
    one before is not noted.
    """

    def __init__(
        self, lab: Lab, txn: Producer, node: int, look: ApiRequest[ResultT], *, answer_seconds: float = LOADED_SECONDS
    ) -> None:
        self.recorder, self.node, self.look = lab.step_recorder("observer"), node, look
        self.answer_seconds = answer_seconds
        places = [partition.topic_partition for partition in lab.partitions]
        self.add, self.version = txn.state.add_partitions(*places), txn.version(AddPartitionsToTxn.api)
        self.last: Sequence[Json] = ()
        self.met_loading = False
        """Whether all of a round, but for the look, was refused because the log is being loaded."""

    def once(self) -> bool:
        """One round; whether all of it was answered by a broker that coordinates the id."""
        steps = self._add(BEFORE), self._asked(self.look, 0, LOOK), self._add(AFTER)
        seen: list[Json] = [step.error for step in steps]
        if seen != self.last:
            for step in steps:
                self.recorder.kept(step, step.name)
        self.last = seen
        self.met_loading = self.met_loading or seen[0] == seen[-1] == LOADING
        return seen == [0, 0, 0]

    def _add(self, name: str) -> Step:
        return self._asked(self.add, self.version, name)

    def _asked(self, request: ApiRequest[ResultT], version: int, name: str) -> Step:
        return self.recorder.asked(self.node, request, version, as_=name, retry=(), timeout_seconds=self.answer_seconds)


def begin(lab: Lab) -> Producer:
    """An id with an open transaction."""
    txn, partition = lab.producer("victim"), lab.partition("P1")
    txn.add(partition)
    txn.produce(partition, as_="write")
    lab.note("id", txn.transactional_id)
    lab.note("producer", txn.producer_id)
    return txn


def loading(lab: Lab, txn: Producer, look: ApiRequest[ResultT]) -> None:
    """The id moves to a broker that has a long log to load first; it is asked until it has."""
    lab.state_log.lengthen(txn.transactional_id, RECORDS)
    for _ in range(MOVES):
        with lab.moves.coordinator(txn, name="loading", known=False) as node:
            rounds = Rounds(lab, txn, node, look)
            _loaded(rounds)
        if rounds.met_loading:
            return


def _loaded(rounds: Rounds) -> None:
    with suppress(TimedOut):  # the check judges a broker that is never done
        until(rounds.once, what="a loaded log", timeout_seconds=LOADED_SECONDS, interval_seconds=0.001)


def stopping(lab: Lab, txn: Producer, look: ApiRequest[ResultT]) -> None:
    """The coordinator is asked while it is shut down in good order, once it has loaded the id again.

    One that loses the leadership while it loads serves for a moment what it has loaded until then
    (``TransactionStateManager.loadTransactionMetadata``); how long is chance, and no promise is asked about here.
    """
    _loaded(Rounds(lab, txn, txn.coordinator, look))
    rounds = Rounds(lab, txn, txn.coordinator, look, answer_seconds=STOPPING_SECONDS)
    with lab.nodes.stopped(txn.coordinator, name="stopping", meanwhile=rounds.once):
        pass


def rounds_of(seen: Evidence) -> Iterator[tuple[Step, Step, Step]]:
    """Added before, the look, added after."""
    before, look, after = (seen.all(name) for name in (BEFORE, LOOK, AFTER))
    return zip(before, look, after, strict=True)


def described_rightly(seen: Evidence, step: Step) -> bool:
    """Whether the id is shown as it is, or the answer says that this broker cannot tell."""
    if step.error != 0:
        return step.error in (None, LOADING, STOPPING, KafkaError.NOT_COORDINATOR)
    return step.fields.get("state") == "Ongoing" and step.fields.get("producer_id") == seen.fact("producer")


def lists_the_id(seen: Evidence, step: Step) -> bool:
    """Whether the list has the id with its state."""
    rows = step.fields.get("transactions")
    kept = [row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict)]
    return any(row.get("transactional_id") == seen.fact("id") and row.get("state") == "Ongoing" for row in kept)
