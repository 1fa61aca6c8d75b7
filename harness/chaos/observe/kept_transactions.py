"""What coordinators keep of transactional ids after settling: described, listed, and written down.

A coordinator describes an id and lists all that it coordinates (KIP-664), both from the state that it keeps in memory
(``TransactionMetadata``), and has written that to ``__transaction_state`` (``TransactionLog``), from where the next
coordinator takes it. An id may expire between two questions, and a coordinator may move; so where they differ all are
asked again, and what is told is what they told last.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.chaos.observe.coordinators_log import NONE, CoordinatorsLog
from harness.evidence.history.operation import KeptTransaction
from harness.kafka.leader_client import RETRY_SECONDS, LeaderClient, Unreachable, require_success
from harness.kafka.transaction_protocol import V1, V2
from harness.wire.records.transaction_state import TransactionState
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsResult
from harness.wire.requests.transactions.list_transactions import ListTransactions

COMPLETE = "Complete"
"""What the states of a completed transaction begin with."""
NEW_PROTOCOL = 2
"""The transaction version of clients whose ends hand out an epoch (``TransactionVersion.TV_2``)."""


@dataclass(slots=True, kw_only=True)
class KeptByCoordinators:
    """Raises :class:`Unreachable` for what is not told in time.

    :param log: None where it is not read.
    :param described: By transactional id, the answer that came last; nothing of an id that its coordinator does not
        know, which is an answer.
    :param listed: Of those ids, once they were compared, as :func:`as_listed`.
    :param uncertain: Ids that were not described again where that was needed; nothing is said of these.
    """

    leader_client: LeaderClient
    log: CoordinatorsLog | None = None
    described: dict[str, DescribeTransactionsResult] = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)
    uncertain: set[str] = field(default_factory=set)

    def describe(self, transactional_id: str, timeout_seconds: float) -> None:
        """Ask the id's coordinator."""
        request = DescribeTransactions(transactional_id=transactional_id)
        kept = self.leader_client.at_coordinator(transactional_id, request, timeout_seconds=timeout_seconds)
        if kept.error == KafkaError.TRANSACTIONAL_ID_NOT_FOUND:
            self.described.pop(transactional_id, None)
            return
        require_success(kept.error, f"DescribeTransactions of {transactional_id}")
        self.described[transactional_id] = kept

    def compare(self, timeout_seconds: float) -> None:
        """Ask all brokers for their lists, and for all again, at least once, until nothing differs or time is over."""
        deadline = time.monotonic() + timeout_seconds
        differing = self._differing(timeout_seconds)
        while differing:
            wait.pause(RETRY_SECONDS)
            self.uncertain = {name for name in differing if not self._described_again(name)}
            if self.log is not None:
                self.log.read_on()
            differing = self._differing(timeout_seconds)
            if time.monotonic() >= deadline:
                return

    def rows(self) -> Iterator[KeptTransaction]:
        """Those of the history."""
        for transactional_id, kept in self.described.items():
            certain = transactional_id not in self.uncertain
            yield KeptTransaction(
                transactional_id=transactional_id,
                state=kept.state,
                producer_id=kept.producer_id,
                epoch=kept.producer_epoch,
                timeout_ms=kept.timeout_ms,
                started_ms=kept.start_time_ms,
                partitions=",".join(kept.partitions),
                listed=self.listed.get(transactional_id) if certain else None,
                recorded=self._recorded(transactional_id) if certain else None,
                protocol=self._protocol(transactional_id) if certain else None,
            )

    def _differing(self, timeout_seconds: float) -> Sequence[str]:
        """Ids whose list or record, as they are now, is not what was described."""
        found = self._lists(timeout_seconds)
        self.listed = {name: found.get(name, "") for name in self.described}
        return [name for name in self.described if self._differs(name)]

    def _differs(self, name: str) -> bool:
        kept, recorded = self.described[name], self._recorded(name)
        return self.listed[name] != as_listed(kept) or recorded not in (None, as_recorded(kept))

    def _recorded(self, name: str) -> str | None:
        """None where its last record is not known."""
        last = self._last_record(name)
        return None if self.log is None or last is None else in_last_record(last, self.log.next_ids.get(name, NONE))

    def _protocol(self, name: str) -> str | None:
        last = self._last_record(name)
        if last is None:
            return None
        return (V2 if last.client_transaction_version == NEW_PROTOCOL else V1).name

    def _last_record(self, name: str) -> TransactionState | None:
        return None if self.log is None or self.log.lacking else self.log.last.get(name)

    def _described_again(self, name: str) -> bool:
        """Whether the coordinator answered."""
        try:
            self.describe(name, timeout_seconds=0)
        except Unreachable:
            return False
        return True

    def _lists(self, timeout_seconds: float) -> Mapping[str, str]:
        """By transactional id, those of others among them: as lists without a filter have it, and by each state."""
        plain = self._listed_in((), timeout_seconds)
        by_state = defaultdict[str, list[str]](list)
        for state in sorted({kept.state for kept in self.described.values()}):
            for name, found in self._listed_in((state,), timeout_seconds).items():
                by_state[name] += found
        names = {*plain, *by_state}
        return {name: _both(",".join(plain.get(name, ())), ",".join(by_state.get(name, ()))) for name in names}

    def _listed_in(self, states: Sequence[str], timeout_seconds: float) -> Mapping[str, list[str]]:
        found = defaultdict[str, list[str]](list)
        for broker in self.leader_client.brokers:
            request = ListTransactions(states=tuple(states))
            answer = self.leader_client.at_broker(broker, request, timeout_seconds=timeout_seconds)
            require_success(answer.error, f"ListTransactions of broker {broker}")
            for each in answer.transactions:
                found[each["transactional_id"]].append(f"{each['state']} {each['producer_id']}")
        return found


def _both(plain: str, by_state: str) -> str:
    return plain if plain == by_state else f"{plain or 'nothing'} ({by_state or 'nothing'} by state)"


def as_listed(kept: DescribeTransactionsResult) -> str:
    """A description in the words of a list: state and producer id."""
    return f"{kept.state} {kept.producer_id}"


def as_recorded(kept: DescribeTransactionsResult) -> str:
    """A description in the words of :func:`in_last_record`; no producer id is to follow what has ended."""
    start = kept.start_time_ms if kept.state.startswith(COMPLETE) else NONE
    return f"{kept.state} {kept.producer_id} {kept.producer_epoch} {kept.timeout_ms} {NONE} {start}"


def in_last_record(state: TransactionState, next_id: int) -> str:
    """State, producer id, epoch, timeout, next producer id, and the start of what has ended.

    :param next_id: That a record named of what had ended.

    A coordinator keeps the start of the last transaction in memory after an ``InitProducerId``, and writes none
    (``TransactionMetadata.completeTransitionTo``).
    """
    start = state.start_ms if state.state.startswith(COMPLETE) else NONE
    return f"{state.state} {state.producer_id} {state.producer_epoch} {state.timeout_ms} {next_id} {start}"
