"""One step of the protocol: a request in a state, and everything that it may answer and leave behind."""

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from harness.model import coordinator_model, leader_model
from harness.model.frozen_map import FrozenMap
from harness.model.groups import group_model
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    DescribeProducerAsked,
    DescribeTransactionAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ListTransactionsAsked,
    ModelAnswer,
    ModelRequest,
    PartitionWrite,
    ProduceAsked,
    TxnOffsetCommitAsked,
    WriteMarkerAsked,
)
from harness.model.model_state import Coordinated, CoordinatorState, ModelCluster
from harness.model.protocol_profile import ProtocolProfile

ABOUT_AN_ID = (InitProducerIdAsked, AddPartitionsAsked, AddOffsetsAsked, EndTxnAsked, DescribeTransactionAsked)
"""What asks a coordinator about one transactional id."""
WITHOUT_STATE = frozenset(
    {"INVALID_REQUEST", "INVALID_TRANSACTION_TIMEOUT", "UNKNOWN_TOPIC_OR_PARTITION", "NOT_COORDINATOR"}
)
"""Answers for which a coordinator need not know the id."""


class ModelOutcome(Struct, frozen=True):
    """An answer, and the state after it; the effect is told apart from the code."""

    answer: ModelAnswer
    after: ModelCluster


BegunWrite: TypeAlias = ModelOutcome | tuple[ModelCluster, int]
"""What the leader does with a write before it asks the coordinator: an outcome, or the number of its verification."""


class MarkerStep(Struct, frozen=True):
    """A step of a transaction that is ending, in words; :param partition: Whose marker it is, "" for its completion."""

    name: str
    partition: str
    after: ModelCluster


def outcomes(cluster: ModelCluster, asked: ModelRequest, profile: ProtocolProfile) -> tuple[ModelOutcome, ...]:
    """What the request may answer, with nothing else under way; markers of what it ends are not written yet."""
    if (at_once := _without_state(cluster, asked, profile)) is not None:
        return (at_once,)
    match asked:
        case InitProducerIdAsked():
            return (_initialised(cluster, asked, profile),)
        case AddPartitionsAsked():
            return (_added(cluster, asked, profile),)
        case AddOffsetsAsked():
            return (_offsets_added(cluster, asked, profile),)
        case EndTxnAsked():
            return (_ended(cluster, asked),)
        case ProduceAsked() | TxnOffsetCommitAsked():
            return (_written(cluster, asked, profile),)
        case WriteMarkerAsked():
            return (_marked(cluster, asked, profile),)
        case ListTransactionsAsked():
            answers = coordinator_model.listed(cluster.ids.get(asked.id), asked, profile)
            return tuple(ModelOutcome(each, cluster) for each in answers)
        case DescribeTransactionAsked() | DescribeProducerAsked():
            return (ModelOutcome(_described(cluster, asked), cluster),)


def _without_state(cluster: ModelCluster, asked: ModelRequest, profile: ProtocolProfile) -> ModelOutcome | None:
    """What is answered without a look at what is known of the id."""
    if _is_nameless(asked):
        return ModelOutcome(ModelAnswer("INVALID_REQUEST"), cluster)
    if cluster.loading and isinstance(asked, (*ABOUT_AN_ID, ListTransactionsAsked)):
        return _while_loading(cluster, asked, profile)
    return None


def _while_loading(cluster: ModelCluster, asked: ModelRequest, profile: ProtocolProfile) -> ModelOutcome:
    """Nothing is done, and what needs no state is answered (``TransactionStateManager.getTransactionState``).

    A list that leaves out what is not loaded yet is none (``listTransactionStates``).
    """
    loaded = outcomes(replace(cluster, loading=False), asked, profile)[0].answer
    names_none = isinstance(asked, DescribeTransactionAsked) and asked.names_none
    is_told = names_none or loaded.error in WITHOUT_STATE
    return ModelOutcome(loaded if is_told else leader_model.LOADING, cluster)


def _is_nameless(asked: ModelRequest) -> bool:
    """Whether a coordinator is asked about the empty id, which nobody may have (``TransactionCoordinator``)."""
    return isinstance(asked, ABOUT_AN_ID) and not asked.id


def _described(cluster: ModelCluster, asked: DescribeTransactionAsked | DescribeProducerAsked) -> ModelAnswer:
    if isinstance(asked, DescribeTransactionAsked):
        if asked.names_none:
            return ModelAnswer()
        return coordinator_model.described(cluster.ids.get(asked.id), elsewhere=asked.elsewhere)
    if asked.partition not in cluster.logs:
        return ModelAnswer("UNKNOWN_TOPIC_OR_PARTITION")
    return leader_model.described(cluster.log(asked.partition), asked)


def settled(cluster: ModelCluster, profile: ProtocolProfile) -> ModelCluster:
    """With everything loaded, every marker written that is under way, and every ending transaction complete."""
    if cluster.loading:
        cluster = replace(cluster, loading=False)
    while steps := list(marker_steps(cluster, profile)):
        cluster = steps[0].after
    return cluster


def marker_steps(cluster: ModelCluster, profile: ProtocolProfile) -> Iterator[MarkerStep]:
    """Each next step of a transaction that is ending: a marker, or its completion.

    ``TransactionMarkerChannelManager``: a leader that refuses a marker ends the attempt, and the id stays as it is.
    """
    for name, known in cluster.ids.items():
        if not known.state.preparing:
            continue
        for partition in sorted(known.partitions):
            marker = _marker_of(known, partition, cluster.coordinator_epoch)
            marked = _marked(cluster, marker, profile)
            left = replace(known, partitions=known.partitions - {partition})
            if marked.answer.accepted:
                yield MarkerStep(f"marker {name} {partition}", partition, marked.after.with_id(name, left))
        if not known.partitions:
            yield MarkerStep(f"complete {name}", "", cluster.with_id(name, coordinator_model.completed(known)))


def timed_out(cluster: ModelCluster, name: str, profile: ProtocolProfile) -> ModelCluster | None:
    """After the transaction's timeout (KIP-98, KIP-588); None where none is open."""
    known = cluster.ids.get(name)
    if known is None or known.state is not CoordinatorState.ONGOING:
        return None
    return _with_new_ids(cluster, name, coordinator_model.fenced(known, cluster.producer_ids, profile))


def coordinator_moved(cluster: ModelCluster, profile: ProtocolProfile) -> ModelCluster:
    """Another coordinator reads the log: markers of transactions that are ending are all sent again (KIP-98 §5.1)."""
    ids = {name: coordinator_model.read_back(known, profile) for name, known in cluster.ids.items()}
    return replace(cluster, ids=FrozenMap(ids), coordinator_epoch=cluster.coordinator_epoch + 1)


def markers_sent_again(cluster: ModelCluster) -> ModelCluster:
    """Markers that are written, and whose answers have not come: till then the coordinator keeps their partitions, and
    sends them again where the connection is lost (``TransactionMarkerRequestCompletionHandler``)."""
    ids = {name: coordinator_model.unmarked(known) for name, known in cluster.ids.items()}
    return replace(cluster, ids=FrozenMap(ids))


def leader_moved(cluster: ModelCluster, partition: str) -> ModelCluster:
    """Another leader knows what the log tells of producers and offsets, and of no verification (KIP-890 part 1)."""
    log = replace(cluster.log(partition), verifications=FrozenMap())
    moved = cluster.with_log(partition, log)
    return moved.with_group(partition, group_model.loaded(log)) if partition in cluster.groups else moved


def _marker_of(known: Coordinated, partition: str, coordinator_epoch: int) -> WriteMarkerAsked:
    return WriteMarkerAsked(
        version=2,
        partition=partition,
        producer_id=known.producer_id,
        epoch=known.epoch,
        coordinator_epoch=coordinator_epoch,
        commit=known.state is CoordinatorState.PREPARE_COMMIT,
        level=2 if known.new_protocol else 0,
    )


def _initialised(cluster: ModelCluster, asked: InitProducerIdAsked, profile: ProtocolProfile) -> ModelOutcome:
    fresh = cluster.producer_ids
    answer, known = coordinator_model.init_producer_id(cluster.ids.get(asked.id), asked, fresh, profile)
    return ModelOutcome(answer, cluster if known is None else _with_new_ids(cluster, asked.id, known))


def _added(cluster: ModelCluster, asked: AddPartitionsAsked, profile: ProtocolProfile) -> ModelOutcome:
    if not asked.partitions <= cluster.logs.keys():
        return ModelOutcome(ModelAnswer("UNKNOWN_TOPIC_OR_PARTITION"), cluster)
    answer, known = coordinator_model.add_partitions(cluster.ids.get(asked.id), asked, profile)
    return ModelOutcome(answer, cluster if known is None else cluster.with_id(asked.id, known))


def _offsets_added(cluster: ModelCluster, asked: AddOffsetsAsked, profile: ProtocolProfile) -> ModelOutcome:
    answer, known = group_model.add_offsets(cluster.ids.get(asked.id), asked, profile)
    return ModelOutcome(answer, cluster if known is None else cluster.with_id(asked.id, known))


def _ended(cluster: ModelCluster, asked: EndTxnAsked) -> ModelOutcome:
    fresh = cluster.producer_ids
    answer, known = coordinator_model.end_transaction(cluster.ids.get(asked.id), asked, fresh)
    return ModelOutcome(answer, cluster if known is None else _with_new_ids(cluster, asked.id, known))


def _with_new_ids(cluster: ModelCluster, name: str, known: Coordinated) -> ModelCluster:
    """The next producer id counts as given out where the id has it, or will have it."""
    given = cluster.producer_ids in (known.producer_id, known.next_id)
    return replace(cluster, producer_ids=cluster.producer_ids + given).with_id(name, known)


def _written(cluster: ModelCluster, asked: PartitionWrite, profile: ProtocolProfile) -> ModelOutcome:
    return written_at_once(begin_write(cluster, asked, profile), asked, profile)


def written_at_once(begun: BegunWrite, asked: PartitionWrite, profile: ProtocolProfile) -> ModelOutcome:
    """What comes of a write that has begun; the question to its coordinator, if there is one, is answered at once."""
    if isinstance(begun, ModelOutcome):
        return begun
    cluster, number = begun
    if number == leader_model.UNVERIFIED:
        return finish_write(cluster, asked, number, profile)
    return asked_about(cluster, asked, number, profile)


def asked_about(cluster: ModelCluster, asked: PartitionWrite, number: int, profile: ProtocolProfile) -> ModelOutcome:
    """What a write is answered once the coordinator is asked about it, whose verification is this one."""
    ask = _while_loading if cluster.loading else _added
    told = ask(cluster, leader_model.question(asked), profile)
    if not told.answer.accepted:
        return ModelOutcome(leader_model.translated(asked, told.answer), told.after)
    return finish_write(told.after, asked, number, profile)


def begin_write(cluster: ModelCluster, asked: PartitionWrite, profile: ProtocolProfile) -> BegunWrite:
    """What the leader does first; the number is ``UNVERIFIED`` where it need not ask."""
    number = cluster.verifications
    begun = leader_model.received(cluster.log(asked.partition), asked, number, profile)
    if isinstance(begun, ModelAnswer):
        return ModelOutcome(begun, cluster)
    log, used = begun
    counted = replace(cluster, verifications=number + (used == number))
    return counted.with_log(asked.partition, log), used


def finish_write(cluster: ModelCluster, asked: PartitionWrite, number: int, profile: ProtocolProfile) -> ModelOutcome:
    """What the leader does once the coordinator has confirmed verification ``number``."""
    log = cluster.log(asked.partition)
    if isinstance(asked, ProduceAsked):
        answer, log = leader_model.written(log, asked, number, profile)
        return ModelOutcome(answer, cluster.with_log(asked.partition, log))
    group = cluster.groups[asked.group]
    answer, group, log = group_model.committed(group, log, asked, number, profile)
    return ModelOutcome(answer, cluster.with_log(asked.partition, log).with_group(asked.group, group))


def _marked(cluster: ModelCluster, asked: WriteMarkerAsked, profile: ProtocolProfile) -> ModelOutcome:
    if asked.partition not in cluster.logs:
        return ModelOutcome(ModelAnswer("UNKNOWN_TOPIC_OR_PARTITION"), cluster)
    answer, log = leader_model.marked(cluster.log(asked.partition), asked, profile)
    marked = cluster.with_log(asked.partition, log)
    if answer.accepted and (group := cluster.groups.get(asked.partition)) is not None:
        ended = group_model.replayed(group, len(log.entries) - 1, log.entries[-1])
        marked = marked.with_group(asked.partition, ended)
    return ModelOutcome(answer, marked)
