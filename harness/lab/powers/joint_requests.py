"""Requests about several producers at once: AddPartitionsToTxn as brokers send it, and a Produce of mixed batches."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import cast

from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError
from harness.base.unprepared import OutOfReach
from harness.evidence.requirement_evidence import Step
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.lab.step_recorder import RETRIABLE, StepRecorder
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn, AddPartitionsToTxns
from harness.wire.topic_partitions import partition_name


def part(
    txn: Producer,
    *partitions: Partition | tuple[str, int],
    verify_only: bool = False,
    transactional_id: str | None = None,
    producer_id: int | None = None,
    epoch: int | None = None,
) -> AddPartitionsToTxn:
    """A producer's transaction in a request; a partition that is not there is a topic and an index.

    ``transactional_id``, ``producer_id`` and ``epoch`` stand in place of the producer's own.
    """
    return AddPartitionsToTxn(
        transactional_id=txn.transactional_id if transactional_id is None else transactional_id,
        producer_id=txn.producer_id if producer_id is None else producer_id,
        producer_epoch=txn.epoch if epoch is None else epoch,
        partitions=tuple(each.topic_partition if isinstance(each, Partition) else each for each in partitions),
        verify_only=verify_only,
    )


def batches(
    txn: Producer, *partitions: Partition, values: tuple[str, ...] = (), transactional: bool = True
) -> tuple[PartitionBatch, ...]:
    """A producer's next batches for these partitions; without values, one record of a value of its own each."""
    notes = txn.step_recorder.notes
    request = txn.state.produce(
        {each.topic_partition: values or (notes.unique(f"{txn.lane} record"),) for each in partitions},
        topic_ids={each.topic: each.topic_id for each in partitions},
    )
    return tuple(replace(one, batch=replace(one.batch, transactional=transactional)) for one in request.batches)


@dataclass(frozen=True, slots=True)
class JointRequests:
    """Sent over one actor's client; an answer to be judged is asked for once, unless ``retry`` says otherwise.

    :param as_broker: Whether the actor must be taken for a broker, as on the lanes; that a user is not is evidence.
    """

    recorder: StepRecorder
    as_broker: bool = True

    def add(
        self,
        node: int,
        transactions: Mapping[str, AddPartitionsToTxn],
        *,
        version: int,
        as_: str | None = None,
        retry: Collection[int] = (),
    ) -> Step:
        """AddPartitionsToTxn at any version; from 4 on of any number of transactions, each under a name of ours.

        A check reads ``step.of("A").at("P1").error``; the step's own error is the top level's, else the first.

        :raises OutOfReach: When we are not allowed to ask what brokers ask.
        """
        named = {one.transactional_id: name for name, one in transactions.items()}
        fields: dict[str, Json] = {name: _told(one) for name, one in transactions.items()}
        request = AddPartitionsToTxns(transactions=tuple(transactions.values()))
        noted: dict[str, Json] = {"transactions": fields}
        asked = self.recorder.asked(node, request, version, as_=as_, request=noted, retry=retry)
        if self.as_broker and asked.error == KafkaError.CLUSTER_AUTHORIZATION_FAILED:
            raise OutOfReach(f"{asked.api} v{version} is for brokers: it needs ClusterAction on the cluster")
        answers = cast(Mapping[str, Json], asked.fields.get("transactions", {}))
        short = {**asked.fields, "transactions": {named.get(id_, id_): answer for id_, answer in answers.items()}}
        return self.recorder.kept(replace(asked, fields=cast(Mapping[str, Json], short)), as_)

    def add_unoffered(self, node: int, transaction: AddPartitionsToTxn, *, version: int, as_: str) -> Step:
        """AddPartitionsToTxn at a version that the broker need not offer; a connection that it ends is a failure."""
        pending = self.recorder.client.send_unoffered(node, transaction, version)
        return self.recorder.finish(pending, as_=as_, request=_told(transaction))

    def produce(
        self,
        node: int,
        transactional_id: str | None,
        *parts: PartitionBatch,
        version: int,
        as_: str | None = None,
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """One Produce of any batches, of several producers too, under that transactional id or none.

        A check reads ``step.at("P1").error``. Nobody's next sequence changes.
        """
        request = Produce(transactional_id=transactional_id, batches=parts)
        noted: dict[str, Json] = {
            "transactional_id": transactional_id,
            "partitions": [partition_name(one.topic, one.partition) for one in parts],
            "producer_ids": [one.batch.producer_id for one in parts],
            "values": [value for one in parts for value in one.batch.values],
        }
        return self.recorder.ask(node, request, version, as_=as_, request=noted, retry=retry)


def _told(one: AddPartitionsToTxn) -> dict[str, Json]:
    return {**asdict(one), "partitions": [partition_name(*each) for each in one.partitions]}
