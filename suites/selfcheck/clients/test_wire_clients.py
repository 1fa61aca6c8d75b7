"""The wire client against brokers that answer by a script: tries, doubt, sequences, epochs, and the results."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from harness.base.kafka_error import KafkaError
from harness.clients.client import ClientOptions
from harness.clients.wire.connections import Connections
from harness.clients.wire.group_member import GroupMember
from harness.clients.wire.protocol_client import ProtocolClient
from harness.clients.wire.wire_adapter import WireAdapter
from harness.clients.wire.wire_outcomes import UNLISTED
from harness.evidence.history.asked_request import AskedApi, AskedRequest
from harness.evidence.history.operation import Outcome, Value
from harness.kafka.transaction_protocol import V1, V2, TransactionProtocol
from harness.wire.api_results import ErrorResult, PartitionErrors, ProducerIdAndEpoch
from harness.wire.offered import Offered
from harness.wire.requests.cluster.metadata import MetadataResult
from harness.wire.requests.groups.find_coordinator import FindCoordinatorResult
from harness.wire.requests.log.produce import Produce, ProduceResult
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit
from harness.wire.wire_errors import NoAnswer

SILENCE = None
NOT_HERE = KafkaError.NOT_COORDINATOR
FENCED, MOVED, BUSY = KafkaError.PRODUCER_FENCED, KafkaError.NOT_COORDINATOR, KafkaError.CONCURRENT_TRANSACTIONS


@dataclass(slots=True)
class Scripted:
    """Connections whose answers stand in a script by API: error codes, or silence; other requests succeed."""

    script: dict[str, list[int | None]] = field(default_factory=dict)
    asked: list[Any] = field(default_factory=list)
    to: list[int] = field(default_factory=list)
    nodes: tuple[int, ...] = (1, 2, 3)
    bumps_epoch: bool = True

    def ask(self, node: int, verb: Any, _timeout_seconds: float) -> Any:
        """The next answer of the script."""
        self.asked.append(verb)
        self.to.append(node)
        waiting = self.script.get(verb.api, [])
        error = waiting.pop(0) if waiting else 0
        if error is SILENCE:
            raise NoAnswer("no answer")
        return self.ended(verb, error) if verb.api == "EndTxn" else ANSWERS[verb.api](verb, error)

    def ended(self, verb: EndTxn, error: int) -> ProducerIdAndEpoch:
        """Only version 5 carries the next identity, and only without an error."""
        known = self.bumps_epoch and not error
        producer_id, epoch = (verb.producer_id, verb.producer_epoch + 1) if known else (-1, -1)
        return ProducerIdAndEpoch(error=error, error_message=None, producer_id=producer_id, producer_epoch=epoch)

    def nodes_asked(self, api: str) -> list[int]:
        """Who was asked of an API."""
        return [node for node, verb in zip(self.to, self.asked, strict=True) if verb.api == api]

    def of(self, api: str) -> list[Any]:
        """What was asked of an API."""
        return [verb for verb in self.asked if verb.api == api]


def metadata(verb: Any, error: int) -> MetadataResult:
    place = {"error": error, "leader": 2, "leader_epoch": 0, "replicas": [1, 2, 3], "isr": [1, 2, 3]}
    topics = {name: {"id": None, "error": error, "partitions": {0: place, 1: place}} for name in verb.topics}
    return MetadataResult(
        error=error, error_message=None, cluster_id="c", controller=4, brokers={}, topics=cast(Any, topics)
    )


ANSWERS: dict[str, Callable[[Any, int], Any]] = {
    "Metadata": metadata,
    "FindCoordinator": lambda _, error: FindCoordinatorResult(error=error, error_message=None, node=1, host="", port=0),
    "InitProducerId": lambda _, error: ProducerIdAndEpoch(
        error=error, error_message=None, producer_id=4711, producer_epoch=7
    ),
    "AddPartitionsToTxn": lambda _, error: PartitionErrors(error=error, error_message=None, partitions={}),
    "DescribeTransactions": lambda _, error: ErrorResult(error=error or NOT_HERE, error_message=None),
    "AddOffsetsToTxn": lambda _, error: ErrorResult(error=error, error_message=None),
    "TxnOffsetCommit": lambda _, error: PartitionErrors(error=error, error_message=None, partitions={}),
    "Produce": lambda _, error: ProduceResult(
        error=error, error_message=None, base_offset=-1 if error else 55, log_start_offset=0, partitions={}
    ),
}


@dataclass(slots=True)
class Trial:
    """A producer and what it asked."""

    producer: ProtocolClient
    brokers: Scripted

    def produce(self, partition: int = 0) -> Any:
        """One record."""
        return self.producer.produce("t", partition, Value(txn=1, ordinal=0, size=1))

    def sequences(self, partition: int = 0) -> list[tuple[int, int]]:
        """Epoch and sequence of every batch sent to a partition."""
        sent = [batch for verb in self.brokers.of("Produce") for batch in verb.batches if batch.partition == partition]
        return [(each.batch.producer_epoch, each.batch.base_sequence) for each in sent]


def begun(protocol: TransactionProtocol, request_ms: int = 30_000, **script: list[int | None]) -> Trial:
    """A producer in a transaction, before brokers that go by the script from now on."""
    brokers = Scripted(bumps_epoch=protocol.bumps_epoch)
    connections = cast(Connections, brokers)
    options = ClientOptions(
        actor="a", lane="victim", bootstrap={}, transactional_id="id", request_ms=request_ms, group="g"
    )
    producer = ProtocolClient.over(connections, connections, options, protocol)
    assert producer.init().done
    assert producer.begin().done
    brokers.script.update(script)
    return Trial(producer, brokers)


def joined(trial: Trial) -> GroupMember:
    """The client as a member of its group."""
    options, retry = trial.producer.options, trial.producer.retry
    return GroupMember(options=options, retry=retry, member="m", generation=4, joined=True)


def test_a_retriable_answer_is_tried_again_with_the_same_sequence_and_counted() -> None:
    trial = begun(V2, Produce=[KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.CONCURRENT_TRANSACTIONS, 0])
    answer = trial.produce()
    assert (answer.outcome, answer.error, answer.tries, answer.offset) == (Outcome.DONE, 0, 3, 55)
    assert trial.sequences() == [(7, 0)] * 3


def test_a_refusal_at_the_first_try_is_a_refusal_and_its_sequence_is_free_again() -> None:
    trial = begun(V2, Produce=[KafkaError.INVALID_TXN_STATE])
    answer = trial.produce()
    assert (answer.outcome, answer.error, answer.tries) == (Outcome.REFUSED, KafkaError.INVALID_TXN_STATE, 1)
    assert trial.produce().done
    assert trial.sequences() == [(7, 0), (7, 0)]


@pytest.mark.parametrize(
    "first",
    [
        SILENCE,
        KafkaError.NOT_LEADER_OR_FOLLOWER,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ],
    ids=["silence", "stepped-down", "late", "too-few-after"],
)
def test_a_refusal_after_a_try_that_may_have_been_written_is_unsure(first: int | None) -> None:
    trial = begun(V2, Produce=[first, KafkaError.INVALID_PRODUCER_EPOCH])
    answer = trial.produce()
    assert (answer.outcome, answer.error, answer.tries) == (Outcome.UNSURE, KafkaError.INVALID_PRODUCER_EPOCH, 2)
    assert "after doubt" in answer.reason


def test_a_duplicate_after_a_lost_answer_is_done_and_without_one_is_refused() -> None:
    lost = begun(V2, Produce=[SILENCE, KafkaError.DUPLICATE_SEQUENCE_NUMBER]).produce()
    assert (lost.outcome, lost.offset) == (Outcome.DONE, None)
    assert begun(V2, Produce=[KafkaError.DUPLICATE_SEQUENCE_NUMBER]).produce().outcome is Outcome.REFUSED


def test_an_unsure_sequence_is_never_used_for_another_record() -> None:
    trial = begun(V2, Produce=[SILENCE, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, 0])
    assert trial.produce().outcome is Outcome.UNSURE
    trial.produce()
    assert trial.sequences() == [(7, 0), (7, 0), (7, 1)]


def test_silence_until_the_bound_is_unsure_without_a_code() -> None:
    answer = begun(V2, request_ms=500, Produce=[SILENCE] * 50).produce()
    assert (answer.outcome, answer.error, answer.reason) == (Outcome.UNSURE, None, "no answer")


def test_without_a_leader_a_produce_is_refused_since_nothing_was_sent() -> None:
    trial = begun(V2, request_ms=500, Metadata=[KafkaError.LEADER_NOT_AVAILABLE] * 5_000)
    answer = trial.produce()
    assert (answer.outcome, answer.error, answer.tries) == (Outcome.REFUSED, None, 0)
    assert trial.brokers.of("Produce") == []


def test_an_error_code_outside_the_table_is_unsure_with_that_reason() -> None:
    answer = begun(V2, Produce=[9_999]).produce()
    assert (answer.outcome, answer.error, answer.reason) == (Outcome.UNSURE, 9_999, UNLISTED.reason)


def test_transactions_v1_add_each_partition_once_and_keep_epoch_and_sequences() -> None:
    trial = begun(V1)
    assert [trial.produce(partition).tries for partition in (0, 1, 0)] == [2, 2, 1]
    assert trial.producer.commit().epoch == 7
    assert trial.producer.begin().done
    assert trial.produce().tries == 2
    assert trial.sequences() == [(7, 0), (7, 1), (7, 2)]
    assert len(trial.brokers.of("AddPartitionsToTxn")) == 3


def test_transactions_v2_add_nothing_and_go_on_with_the_epoch_that_the_end_returned() -> None:
    trial = begun(V2)
    assert trial.produce().tries == 1
    ended = trial.producer.commit()
    assert (ended.producer_id, ended.epoch) == (4711, 8)
    assert trial.producer.begin().done
    assert trial.produce().done
    assert trial.sequences() == [(7, 0), (8, 0)]
    assert trial.brokers.of("AddPartitionsToTxn") == []


def test_a_record_whose_partition_could_not_be_added_was_never_sent() -> None:
    trial = begun(V1, AddPartitionsToTxn=[SILENCE, KafkaError.PRODUCER_FENCED])
    answer = trial.produce()
    assert (answer.outcome, answer.error) == (Outcome.REFUSED, FENCED)
    assert answer.reason.startswith("the record was never sent")
    assert trial.brokers.of("Produce") == []


@pytest.mark.parametrize(("protocol", "sent"), [(V1, 1), (V2, 2)])
def test_only_v2_repeats_an_end_whose_answer_was_lost(protocol: TransactionProtocol, sent: int) -> None:
    trial = begun(protocol, EndTxn=[SILENCE, 0])
    trial.produce()
    answer = trial.producer.commit()
    assert answer.outcome is (Outcome.DONE if sent == 2 else Outcome.UNSURE)
    assert len(trial.brokers.of("EndTxn")) == answer.tries == sent


@pytest.mark.parametrize(("protocol", "sent"), [(V1, 1), (V2, 2)])
def test_only_v2_repeats_offsets_whose_answer_was_lost(protocol: TransactionProtocol, sent: int) -> None:
    trial = begun(protocol, TxnOffsetCommit=[SILENCE, 0])
    trial.producer.consumer.member = joined(trial)
    answer = trial.producer.send_offsets("in", 3, 42)
    assert answer.outcome is (Outcome.DONE if sent == 2 else Outcome.UNSURE)
    verbs: list[TxnOffsetCommit] = trial.brokers.of("TxnOffsetCommit")
    assert len(verbs) == sent
    assert (verbs[0].offsets, verbs[0].member, verbs[0].generation) == ({("in", 3): 42}, "m", 4)
    assert len(trial.brokers.of("AddOffsetsToTxn")) == (0 if sent == 2 else 1)


def test_a_fenced_commit_is_refused_and_after_an_appended_one_unsure() -> None:
    for errors, outcome in (
        ([FENCED], Outcome.REFUSED),
        ([MOVED, FENCED], Outcome.UNSURE),
        ([BUSY, FENCED], Outcome.REFUSED),
    ):
        trial = begun(V2, EndTxn=list(errors))
        trial.produce()
        answer = trial.producer.commit()
        assert (answer.outcome, answer.error) == (outcome, FENCED)


def test_after_an_unsure_end_only_init_goes_on() -> None:
    trial = begun(V1, EndTxn=[SILENCE])
    trial.produce()
    assert trial.producer.abort().outcome is Outcome.UNSURE
    assert trial.producer.begin().outcome is Outcome.REFUSED
    assert trial.producer.init().done
    assert trial.producer.begin().done


def test_an_empty_transaction_is_nothing_to_the_coordinator() -> None:
    trial = begun(V2)
    answer = trial.producer.commit()
    assert (answer.outcome, answer.tries) == (Outcome.DONE, 0)
    assert trial.brokers.of("EndTxn") == []


def test_a_moved_leader_is_looked_up_and_the_coordinator_is_not() -> None:
    trial = begun(V2, Produce=[KafkaError.NOT_LEADER_OR_FOLLOWER, 0])
    assert trial.produce().done
    assert [len(trial.brokers.of(api)) for api in ("Metadata", "FindCoordinator")] == [2, 1]


def test_requests_carry_what_the_client_was_called_with() -> None:
    trial = begun(V2)
    trial.produce()
    trial.producer.abort()
    (verb,) = trial.brokers.of("EndTxn")
    assert isinstance(verb, EndTxn)
    assert (verb.committed, verb.producer_epoch) == (False, 7)
    produced: list[Produce] = trial.brokers.of("Produce")
    assert produced[0].batches[0].batch.values == ("1/0/1/",)


def asked(api: AskedApi, **claims: Any) -> AskedRequest:
    """A request outside of all rules, with an identity that is not the client's."""
    topic = "t" if api in ("AddPartitionsToTxn", "Produce") else ""
    return AskedRequest(api=api, topic=topic, **{"producer_id": 99, "epoch": 3, **claims})


def test_a_request_as_it_is_claims_what_it_was_told_to_and_leaves_the_client_as_it_was() -> None:
    trial = begun(V2)
    told = trial.producer.ask(asked("EndTxn", commit=True))
    assert (told.outcome, told.producer_id, told.epoch) == (Outcome.DONE, 99, 4)
    assert trial.producer.ask(asked("Produce", sequence=7)).done
    assert trial.produce().done
    assert trial.sequences() == [(3, 7), (7, 0)]


@pytest.mark.parametrize("error", [SILENCE, BUSY, FENCED])
def test_a_request_as_it_is_is_sent_once(error: int | None) -> None:
    trial = begun(V2, InitProducerId=[error])
    answer = trial.producer.ask(asked("InitProducerId"))
    assert answer.outcome is (Outcome.UNSURE if error is SILENCE else Outcome.REFUSED)
    assert (answer.error, answer.tries, answer.state) == (error, 1, "")
    (_, again) = trial.brokers.of("InitProducerId")
    assert (again.producer_id, again.producer_epoch) == (99, 3)


def test_another_id_than_the_clients_own_may_be_asked_for() -> None:
    trial = begun(V2)
    trial.producer.ask(asked("AddPartitionsToTxn", transactional_id="another"))
    assert [verb.transactional_id for verb in trial.brokers.of("AddPartitionsToTxn")] == ["another"]


def test_who_does_not_coordinate_an_id_is_looked_up_anew() -> None:
    trial = begun(V2)
    trial.producer.ask(asked("DescribeTransactions", elsewhere=True))
    assert len(trial.brokers.of("FindCoordinator")) == 2
    assert trial.brokers.nodes_asked("DescribeTransactions") == [2]


def test_a_request_that_cannot_be_made_is_refused_where_it_is_made() -> None:
    with pytest.raises(ValueError, match="Produce without a partition"):
        AskedRequest(api="Produce")


def test_what_a_broker_lacks_for_transactions_v2_is_reported_before_the_start() -> None:
    able = {"EndTxn": (0, 5), "Produce": (3, 13), "TxnOffsetCommit": (0, 5)}
    v1, v2 = WireAdapter(V1), WireAdapter(V2)
    assert v2.lacking(Offered(apis=able, finalized_features={"transaction.version": 2})) is None
    assert v1.lacking(Offered()) is None
    version = v2.lacking(Offered(apis={**able, "EndTxn": (0, 4)}))
    assert version == "wire-v2 needs EndTxn 5; the broker offers EndTxn 0–4"
    level = v2.lacking(Offered(apis=able, finalized_features={"transaction.version": 1}))
    assert level == "wire-v2 needs transaction.version 2; the cluster runs 1"
