"""A sequence of the model's requests as a sketch of a requirement's stimulus, in the lab's words."""

from collections.abc import Iterator, Sequence

from harness.model.alphabet import OWN
from harness.model.events.model_event import (
    CoordinatorLoads,
    CoordinatorMoves,
    EpochsUsedUp,
    LeaderMoves,
    MarkersWait,
    ModelEvent,
    ModelStep,
    TimeoutPasses,
)
from harness.model.events.write_events import (
    WriteEvent,
    WriteLost,
    WritesOverlap,
    WriteWaits,
    moves_coordinator,
    writes_of,
)
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    DescribeProducerAsked,
    DescribeTransactionAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ListedPattern,
    ListTransactionsAsked,
    ModelRequest,
    PartitionWrite,
    ProduceAsked,
    TxnOffsetCommitAsked,
    WriteMarkerAsked,
)
from harness.model.model_state import NONE


def sketch(path: Sequence[ModelStep]) -> str:
    """Lines of Python that somebody can begin a requirement with; identities are as the model counts them."""
    return "\n".join(_lines(path))


def _lines(path: Sequence[ModelStep]) -> Iterator[str]:
    started = set[str]()
    for each in path:
        yield _event_line(each) if isinstance(each, ModelEvent) else _line(each, started)


def _event_line(event: ModelEvent) -> str:
    match event:
        case TimeoutPasses():
            return f'lab.reached({event.id}, "CompleteAbort")  # timed out, where a transaction was open'
        case CoordinatorMoves():
            return f"lab.moves.coordinator({OWN})  # for the rest"
        case CoordinatorLoads():
            return (
                f"lab.state_log.lengthen({OWN}, 1_000_000); lab.moves.coordinator({OWN}, known=False)  # for the rest"
            )
        case LeaderMoves():
            return f"lab.moves.leader({event.partition})  # for the rest"
        case MarkersWait():
            action = "drop-request" if event.lost else "hold"
            return f'lab.gate(link, api="WriteTxnMarkers", action="{action}", name="markers")  # for the rest'
        case EpochsUsedUp():
            return f"lab.state_log.replace(NewState({event.id}, …, producer_epoch=32767 - {1 + event.left}, …))"
        case WriteWaits() | WriteLost() | WritesOverlap():
            lines = [_link_line(event), *(_line(each, set()) for each in writes_of(event))]
            if moves_coordinator(event):
                lines.append(f"lab.moves.coordinator({writes_of(event)[0].id})  # for the rest")
            return "\n".join(lines)


def _link_line(event: WriteEvent) -> str:
    match event:
        case WriteWaits():
            action, while_ = "hold-response" if event.confirmed else "hold", "for the rest"
        case WriteLost():
            action, while_ = "drop-response" if event.confirmed else "drop-request", "for the next line"
        case WritesOverlap():
            action, while_ = "hold", "for a question about nobody, until both of these have come"
    return f'lab.gate(link, api="AddPartitionsToTxn", action="{action}", name="question")  # {while_}'


def _line(asked: ModelRequest, started: set[str]) -> str:
    match asked:
        case InitProducerIdAsked():
            first = asked.id not in started and asked.producer_id == NONE
            started.add(asked.id)
            if first:
                return f'{asked.id} = lab.producer("{asked.id}")  # InitProducerId v{asked.version}'
            claimed = "" if asked.producer_id == NONE else f"producer_id={asked.producer_id}, epoch={asked.epoch}, "
            return f"{asked.id}.init({claimed}version={asked.version})"
        case AddPartitionsAsked():
            names = ", ".join(sorted(asked.partitions))
            verb = "verify" if asked.verify_only else "add"
            return f"{asked.id}.{verb}({names}, {_identity(asked)}, version={asked.version})"
        case ProduceAsked():
            how = f"sequence={asked.sequence}, {_beside(asked)}version={asked.version}"
            return f"{asked.id}.produce({asked.partition}, {_identity(asked)}, {how})"
        case EndTxnAsked():
            return f"{asked.id}.end(commit={asked.commit}, {_identity(asked)}, version={asked.version})"
        case AddOffsetsAsked():
            return f"{asked.id}.add_offsets({asked.group}, {_identity(asked)}, version={asked.version})"
        case TxnOffsetCommitAsked():
            how = f"offset={asked.offset}, generation={asked.generation}, version={asked.version}"
            return f"{asked.id}.send_offsets({asked.group}, {_identity(asked)}, {how})"
        case ListTransactionsAsked() | DescribeTransactionAsked() | DescribeProducerAsked():
            return _look_line(asked)
        case WriteMarkerAsked():
            how = f"commit={asked.commit}, coordinator_epoch={asked.coordinator_epoch}, level={asked.level}"
            return f"lab.write_marker({asked.partition}, {_identity(asked)}, {how}, version={asked.version})"


def _look_line(asked: ListTransactionsAsked | DescribeTransactionAsked | DescribeProducerAsked) -> str:
    match asked:
        case ListTransactionsAsked():
            how = f"states={asked.states}, duration_ms={asked.duration_ms}, version={asked.version}"
            how += "" if asked.pattern is ListedPattern.ANY else f", pattern={asked.pattern!r}"
            return f"lab.list_transactions({asked.id}, producer_id={asked.producer_id}, {how})"
        case DescribeTransactionAsked():
            return f"lab.describe({asked.id}{', elsewhere=True' if asked.elsewhere else ''})"
        case DescribeProducerAsked():
            return f"lab.describe_producers({asked.partition}, by={str(asked.by)!r})  # producer {asked.producer_id}"


def _beside(asked: ProduceAsked) -> str:
    """That a write is not of its producer's transaction."""
    unnamed = "" if asked.names_id else "transactional_id=None, "
    return unnamed + ("" if asked.transactional else "transactional=False, ")


def _identity(asked: AddPartitionsAsked | AddOffsetsAsked | PartitionWrite | EndTxnAsked | WriteMarkerAsked) -> str:
    return f"producer_id={asked.producer_id}, epoch={asked.epoch}"
