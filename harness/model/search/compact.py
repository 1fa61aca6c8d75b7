"""A state without what makes no difference any more, so that fewer are told apart."""

from msgspec.structs import replace

from harness.model.frozen_map import FrozenMap
from harness.model.invariants import Intended, broken_anywhere, committed_values, transaction_of
from harness.model.leader_model import UNVERIFIED
from harness.model.model_requests import ProduceAsked
from harness.model.model_state import KnownProducer, ModelCluster, PartitionLog, Verification
from harness.model.modelled_producer import ClientPhase, ModelledProducer
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.dead_requests import is_dead
from harness.model.search.search_state import SENT, MessageUnderWay, SearchState


def compact(state: SearchState, profile: ProtocolProfile) -> SearchState:
    """Without settled entries of logs, messages that can do nothing, and what nothing can contradict any more."""
    messages = frozenset(each for each in state.messages if not _is_dead(each, state.cluster, profile))
    sending = {each.client for each in messages}
    clients = tuple(_done(each, late=index in sending) for index, each in enumerate(state.clients))
    after = replace(state, clients=clients, messages=messages)
    if state.cluster.groups:
        return renumbered(after)  # a group knows its offsets by their places in the log
    cluster, intended = _settled(state.cluster, state.intended)
    after = replace(after, cluster=cluster)
    return renumbered(replace(after, intended=_still_open(intended, after)))


def _settled(cluster: ModelCluster, intended: Intended) -> tuple[ModelCluster, Intended]:
    logs = {partition: log for partition, log in cluster.logs.items() if log.entries}
    readable = intended.readable.union(*map(committed_values, logs.values()))
    if readable != intended.readable or any(_is_marked(log) for log in logs.values()):
        broken = frozenset(broken_anywhere(cluster, intended))
        acknowledged = intended.acknowledged - readable
        intended = replace(intended, readable=readable, acknowledged=acknowledged, broken=broken)
    shorter = {partition: without_settled(log) for partition, log in logs.items()}
    if any(shorter[partition] is not log for partition, log in logs.items()):
        cluster = replace(cluster, logs=FrozenMap({**cluster.logs, **shorter}))
    return cluster, intended


def _is_marked(log: PartitionLog) -> bool:
    return any(entry.marker is not None for entry in log.entries)


def _is_dead(message: MessageUnderWay, cluster: ModelCluster, profile: ProtocolProfile) -> bool:
    """Whether its arrival changes nothing, and nobody hears of it."""
    return message.unheard and message.stage == SENT and is_dead(message.request, cluster, profile)


def _still_open(intended: Intended, state: SearchState) -> Intended:
    """Without transactions and records of which nothing more can be written, acknowledged or read.

    A record can still come while it is under way or in a log; a transaction can still come to an end while its client
    is at it, or has something under way.
    """
    if not (intended.committed or intended.acknowledged or intended.readable):
        return intended
    writes = {each.request.value for each in state.messages if isinstance(each.request, ProduceAsked)}
    entries = {entry.value for log in state.cluster.logs.values() for entry in log.entries}
    late = {state.clients[each.client].name for each in state.messages}
    working = {each.transaction for each in state.clients if each.phase is not ClientPhase.STOPPED}
    can_end = {each for each in _transactions(intended) if each in working or each.partition(".")[0] in late}
    acknowledged = frozenset(
        value
        for value in intended.acknowledged
        if transaction_of(value) in intended.committed or transaction_of(value) in can_end
    )
    needed = {transaction_of(value) for value in (*writes, *entries, *acknowledged)} | can_end
    committed, readable = intended.committed & needed, intended.readable & (writes | entries)
    kept = (committed, acknowledged, readable)
    if kept == (intended.committed, intended.acknowledged, intended.readable):
        return intended
    return replace(intended, committed=committed, acknowledged=acknowledged, readable=readable)


def _transactions(intended: Intended) -> frozenset[str]:
    return intended.committed | {transaction_of(value) for value in intended.acknowledged}


def without_settled(log: PartitionLog) -> PartitionLog:
    """Without the entries of transactions whose marker lies before the last stable offset.

    No rule looks at them again: a leader knows producers, not entries, and of a batch the sequence.
    """
    batches = (batch for known in log.producers.values() for batch in known.batches)
    if not _is_marked(log) and all(offset == 0 for _, offset in batches):
        return log
    settled: dict[int, int] = {}
    for index, entry in enumerate(log.entries[: log.last_stable_offset]):
        if entry.marker is not None:
            settled[entry.producer_id] = index
    kept = [index for index, entry in enumerate(log.entries) if index > settled.get(entry.producer_id, -1)]
    places = {index: place for place, index in enumerate(kept)}
    producers = {number: _moved(known, places) for number, known in log.producers.items()}
    return replace(log, entries=tuple(log.entries[index] for index in kept), producers=FrozenMap(producers))


def _moved(known: KnownProducer, places: dict[int, int]) -> KnownProducer:
    opened = None if known.open_since is None else places[known.open_since]
    return replace(known, batches=tuple((sequence, 0) for sequence, _ in known.batches), open_since=opened)


def _done(client: ModelledProducer, *, late: bool) -> ModelledProducer:
    """Of one that is done only the number of its last transaction counts: a ``late`` commit is of that one."""
    if client.phase is not ClientPhase.STOPPED:
        return client
    return ModelledProducer(
        name=client.name,
        id=client.id,
        new_protocol=client.new_protocol,
        partitions=client.partitions,
        transactions=0,
        phase=ClientPhase.STOPPED,
        number=client.number if late else 0,
    )


def renumbered(state: SearchState) -> SearchState:
    """Verifications by numbers that tell them apart and nothing else: how many there were makes no difference."""
    logs = {partition: log for partition, log in state.cluster.logs.items() if log.verifications}
    live = [each.number for log in logs.values() for each in log.verifications.values()]
    numbers = {number: index for index, number in enumerate(dict.fromkeys(live))}
    stale = len(numbers)
    asking = {each.number for each in state.messages if each.number != UNVERIFIED}
    if state.cluster.verifications == stale + 1 and all(numbers.get(each, stale) == each for each in (*live, *asking)):
        return state
    messages = frozenset(
        replace(each, number=numbers.get(each.number, stale)) if each.number != UNVERIFIED else each
        for each in state.messages
    )
    shown = {partition: replace(log, verifications=_with_numbers(log, numbers)) for partition, log in logs.items()}
    cluster = replace(state.cluster, verifications=stale + 1, logs=FrozenMap({**state.cluster.logs, **shown}))
    return replace(state, cluster=cluster, messages=messages)


def _with_numbers(log: PartitionLog, numbers: dict[int, int]) -> FrozenMap[int, Verification]:
    return FrozenMap({id_: replace(one, number=numbers[one.number]) for id_, one in log.verifications.items()})
