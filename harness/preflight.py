"""Before the first requirement on a cluster that is not ours: is what it advertises refused as a whole?

A server may list every request of a transaction and refuse each of them: transactions are switched off, the user may
use no transactional id, the internal topic cannot have its copies. Then nothing can be judged, and that is told in one
sentence, not once for each requirement. A transaction of one record is tried in each protocol that is offered, under
three ids at most. Only an answer with an error is a refusal: silence and lost connections are for requirements.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from harness.base import wait
from harness.base.kafka_error import KafkaError, error_name
from harness.base.unprepared import Unprepared
from harness.base.user_error import ExitCode, UserError
from harness.kafka.producer_state import ProducerState
from harness.kafka.retriable import READ_AGAIN
from harness.kafka.targets.target_features import TargetFeatures
from harness.kafka.topics import Topics
from harness.kafka.transaction_protocol import V1, V2, TransactionProtocol
from harness.lab import Lab
from harness.lab.partition import Partition
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.groups.find_coordinator import FindCoordinator
from harness.wire.wire_errors import WireError

ResultT = TypeVar("ResultT", bound=ApiResult)

NAME = "preflight"
"""Stands for a requirement's id in names and exchanges."""
IDS = 3
PATIENCE_SECONDS = 10.0
"""How long an error that may pass is waited out, for each id."""
ANSWER_SECONDS = 10.0
TIMEOUT_MS = 10_000
"""After which the coordinator aborts what a refusal left open."""
REMEDIES = {
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "the user needs Write on transactional ids with the prefix",
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "the user needs Write on topics with the prefix",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "the user needs IdempotentWrite on the cluster",
    KafkaError.COORDINATOR_NOT_AVAILABLE: "the cluster may have fewer brokers than"
    " transaction.state.log.replication.factor asks copies of",
}
"""What most often is behind an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRefusal:
    """A request that was answered with an error which does not pass."""

    api: str
    version: int
    error: int
    message: str | None

    def __str__(self) -> str:
        words = f"{error_name(self.error)} ({self.error})" + (f", {self.message}" if self.message else "")
        remedy = REMEDIES.get(KafkaError(self.error)) if self.error in set(KafkaError) else None
        return words + (f" ({remedy})" if remedy else "")


class RefusedError(Exception):
    """Ends a trial."""

    def __init__(self, refusal: TransactionRefusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def require_transactions(lab: Lab, offer: TargetFeatures) -> None:
    """Try a transaction in each protocol that is offered, until one is not refused.

    :raises UserError: TRANSACTIONS_REFUSED, when in each of them one request is refused under every id.
    """
    try:
        place = lab.partition("P1")
    except (Unprepared, WireError, wait.TimedOut):
        return  # each requirement tells it for the topics that it needs
    refusals: list[TransactionRefusal] = []
    for protocol in offered_protocols(offer):
        refused = refused_under_every_id(partial(_tried, lab, protocol, place))
        if refused is None:
            return
        refusals.append(refused)
    if refusals:
        raise UserError(_sentence(lab.cluster.identity, offer, refusals[0]), exit=ExitCode.TRANSACTIONS_REFUSED)


def offered_protocols(offer: TargetFeatures) -> Iterator[TransactionProtocol]:
    """Those for which every broker offers the versions."""
    low, high = offer.apis["EndTxn"]
    if low <= V1.highest_versions["EndTxn"]:
        yield V1
    if high >= V2.highest_versions["EndTxn"] and offer.apis["Produce"][1] >= V2.highest_versions["Produce"]:
        yield V2


def refused_under_every_id(tried: Callable[[int], TransactionRefusal | None]) -> TransactionRefusal | None:
    """The refusal of the request that ended the trial of every id; None when a trial did not end so, or they differ."""
    refusals: list[TransactionRefusal] = []
    for number in range(IDS):
        refused = tried(number)
        if refused is None or any(refused.api != other.api for other in refusals):
            return None
        refusals.append(refused)
    return refusals[0]


def _sentence(identity: str, offer: TargetFeatures, refusal: TransactionRefusal) -> str:
    low, high = offer.apis.get(refusal.api, (refusal.version, refusal.version))
    return (
        f"{identity} advertises {refusal.api} v{low}–v{high} and refuses every transactional id with {refusal}:"
        " nothing can be judged"
    )


def _tried(lab: Lab, protocol: TransactionProtocol, place: Partition, number: int) -> TransactionRefusal | None:
    """A transaction of one record under a fresh id; None when it was committed, or an answer stayed away."""
    transactional_id = lab.belongings.name(NAME, protocol.name, str(number))
    lab.belongings.transactional_ids += 1
    trial = _Trial(lab, ProducerState(transactional_id=transactional_id, protocol=protocol), place)
    try:
        trial.run()
    except RefusedError as refused:
        return refused.refusal
    except WireError:
        return None
    return None


@dataclass(slots=True)
class _Trial:
    lab: Lab
    state: ProducerState
    place: Partition
    deadline: float = 0.0

    def run(self) -> None:
        """:raises RefusedError: For the first error that does not pass; :raises WireError: without an answer."""
        self.deadline = time.monotonic() + PATIENCE_SECONDS
        made = self._ask(self._coordinator, self.state.init_producer_id(TIMEOUT_MS))
        self.state.become(made.producer_id, made.producer_epoch)
        place = self.place.topic_partition
        if self.state.must_add(place):
            self._ask(self._coordinator, self.state.add_partitions(place))
        self._ask(self._leader, self.state.produce({place: (NAME,)}))
        self._ask(self._coordinator, self.state.end_txn(commit=True))

    def _ask(self, node: Callable[[], int], request: ApiRequest[ResultT]) -> ResultT:
        """Who is to be asked is looked up for each try, because it may have moved."""
        client = self.lab.step_recorder("victim").client
        while True:
            asked = node()
            version = client.highest(asked, request.api, self.state.protocol.highest_versions.get(request.api))
            result = client.call(asked, request, version, timeout_seconds=ANSWER_SECONDS).result
            if not self._may_pass(result):
                return _accepted(request.api, version, result)

    def _coordinator(self) -> int:
        client, request = self.lab.step_recorder("observer").client, FindCoordinator(key=self.state.transactional_id)
        while True:
            for broker in self._brokers:
                answer = client.call(broker, request, timeout_seconds=ANSWER_SECONDS)
                if not answer.result.error:
                    return answer.result.node
            if not self._may_pass(answer.result):
                return _accepted(request.api, answer.exchange.version, answer.result).node

    def _leader(self) -> int:
        layout = Topics(self.lab.placement.cluster).layout(self.place.topic)
        return self.place.leader if layout is None else layout.leader(self.place.index)

    @property
    def _brokers(self) -> Sequence[int]:
        return self.lab.cluster.topology.brokers

    def _may_pass(self, result: ApiResult) -> bool:
        """Whether to ask again, after a moment."""
        if result.error not in READ_AGAIN or time.monotonic() >= self.deadline:
            return False
        wait.pause(0.05)
        return True


def _accepted(api: str, version: int, result: ResultT) -> ResultT:
    if result.error:
        raise RefusedError(
            TransactionRefusal(api=api, version=version, error=result.error, message=result.error_message)
        )
    return result
