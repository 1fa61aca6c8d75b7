"""What a transaction coordinator answers, and what it then knows of the transactional id.

Each rule takes what the coordinator knows of the id (None before its first InitProducerId) and gives an answer with
what it knows after it. An id in PrepareCommit or PrepareAbort has its markers under way, and its next transition is
pending (``TransactionMetadata.pendingTransitionInProgress``): :func:`completed` is what follows the last of them.
Sources: KIP-98, KIP-360, KIP-890; ``TransactionCoordinator``, ``TransactionMetadata``.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from msgspec.structs import replace

from harness.model.model_requests import (
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ListedPattern,
    ListTransactionsAsked,
    ModelAnswer,
)
from harness.model.model_state import LAST_EPOCH, NONE, Coordinated, CoordinatorState
from harness.model.protocol_profile import ProtocolProfile

Known: TypeAlias = Coordinated | None
Ruled: TypeAlias = tuple[ModelAnswer, Known]

FENCED = ModelAnswer("PRODUCER_FENCED")
BUSY = ModelAnswer("CONCURRENT_TRANSACTIONS")
UNKNOWN_ID = ModelAnswer("INVALID_PRODUCER_ID_MAPPING")
WRONG_STATE = ModelAnswer("INVALID_TXN_STATE")
NEW_CLIENT_ADD = 4
"""Of AddPartitionsToTxn: from here on a client counts as new
(``TransactionVersion.transactionVersionForAddPartitionsToTxn``)."""
NEW_PROTOCOL_END = 5
"""Of EndTxn: the version by which the epoch is bumped."""
TAGGED_RECORDS = 1
"""The ``transaction.version`` from which on what a coordinator writes down has tagged fields."""
LONGEST_TIMEOUT_MS = 900_000
"""``transaction.max.timeout.ms`` by default."""


def init_producer_id(known: Known, asked: InitProducerIdAsked, fresh: int, profile: ProtocolProfile) -> Ruled:
    """A new instance of the application, or one that goes on after an error (KIP-360).

    :param fresh: The producer id that is given out if one is needed.
    """
    answer, after = _init(known, asked, fresh, profile)
    return _named_for(answer, asked.version, since=4), after


def _init(known: Known, asked: InitProducerIdAsked, fresh: int, profile: ProtocolProfile) -> Ruled:
    """``handleInitProducerId`` and ``prepareInitProducerIdTransit``."""
    identified = asked.producer_id != NONE
    if identified != (asked.epoch != NONE):
        return ModelAnswer("INVALID_REQUEST"), known  # KafkaApis.handleInitProducerIdRequest
    if not _is_timeout(asked.timeout_ms):
        return ModelAnswer("INVALID_TRANSACTION_TIMEOUT"), known
    if known is None:
        made = Coordinated(CoordinatorState.EMPTY, producer_id=fresh, epoch=0, timeout_ms=asked.timeout_ms)
        return ModelAnswer(producer_id=fresh, epoch=0), made
    if known.state.preparing:
        return BUSY, known  # first of all: a transition is pending
    if identified and not _may_claim(known, asked):
        return FENCED, known
    if known.state is CoordinatorState.ONGOING:
        return BUSY, fenced(known, fresh, profile)
    return _next_epoch(known, asked, fresh, identified=identified)


def _is_timeout(milliseconds: int) -> bool:
    """``TransactionStateManager.validateTransactionTimeoutMs``, by the default of ``transaction.max.timeout.ms``."""
    return milliseconds == NONE or 0 < milliseconds <= LONGEST_TIMEOUT_MS


def _may_claim(known: Coordinated, asked: InitProducerIdAsked) -> bool:
    """The id's own producer id, or the one before it in its last epoch, for an answer that was lost (KIP-360)."""
    before = asked.producer_id == known.previous_id and asked.epoch >= LAST_EPOCH - 1
    return asked.producer_id == known.producer_id or before


def _next_epoch(known: Coordinated, asked: InitProducerIdAsked, fresh: int, *, identified: bool) -> Ruled:
    """``prepareIncrementProducerEpoch`` and ``prepareProducerIdRotation``."""
    empty = _moved(known, state=CoordinatorState.EMPTY, partitions=frozenset(), timeout_ms=asked.timeout_ms)
    last = known.epoch if identified else NONE
    if known.exhausted and (not identified or asked.epoch == known.epoch):
        after = replace(empty, producer_id=fresh, epoch=0, last_epoch=last, previous_id=known.producer_id)
    elif known.exhausted:
        return ModelAnswer("UNKNOWN_SERVER_ERROR"), known  # an IllegalStateException: FINDINGS, KIP360-INIT-20
    elif not identified or asked.epoch == known.epoch:
        after = replace(empty, epoch=known.epoch + 1, last_epoch=last)
    elif asked.epoch == known.last_epoch:
        after = empty  # a repeated request: the epoch that was given then
    else:
        return FENCED, known
    return ModelAnswer(producer_id=after.producer_id, epoch=after.epoch), after


def _moved(known: Coordinated, **changes: Any) -> Coordinated:
    """After a transition; each names the producer id before it, and forgets earlier ones (``TxnTransitMetadata``).

    Here NONE stands for the current one.
    """
    return replace(known, **{"previous_id": NONE, **changes})


def fenced(known: Coordinated, fresh: int, profile: ProtocolProfile) -> Coordinated:
    """An open transaction is aborted by the coordinator: for a new instance, or after its timeout.

    The epoch is bumped, so that its producer writes no more (``prepareFenceProducerEpoch``). On ``transaction.version``
    2 the epoch before is remembered, so that the producer can claim the next one (KAFKA-9910).

    :param fresh: The producer id that follows where the last epoch is over.
    """
    new, bumps = profile.level >= 2, 2 if profile.fence_bumps_twice and profile.level >= 2 else 1
    return _moved(
        known,
        state=CoordinatorState.PREPARE_ABORT,
        epoch=known.epoch + bumps,
        last_epoch=known.epoch + bumps - 1 if new else NONE,
        next_id=fresh if new and known.exhausted and profile.fence_rotates else NONE,
        ending=known.partitions,
        new_protocol=new,
    )


def add_partitions(known: Known, asked: AddPartitionsAsked, profile: ProtocolProfile) -> Ruled:
    """Of a client, or of a leader for a new client's first write (``handleAddPartitionsToTransaction``)."""
    answer, after = _verified(known, asked) if asked.verify_only else _added(known, asked, profile)
    return _named_for(answer, asked.version, since=2), after


def _added(known: Known, asked: AddPartitionsAsked, profile: ProtocolProfile) -> Ruled:
    if known is None:
        return UNKNOWN_ID, known
    if profile.ending_comes_first and known.state.preparing:
        return BUSY, known
    if refused := _refused(known, asked):
        return refused, known
    if known.state is CoordinatorState.ONGOING and asked.partitions <= known.partitions:
        return ModelAnswer(), known
    new, open_ones = asked.version >= NEW_CLIENT_ADD, frozenset[str]()
    if known.state is CoordinatorState.ONGOING:
        open_ones = known.partitions
    state, partitions = CoordinatorState.ONGOING, open_ones | asked.partitions
    return ModelAnswer(), _moved(known, state=state, partitions=partitions, new_protocol=new)


def _verified(known: Known, asked: AddPartitionsAsked) -> Ruled:
    """``handleVerifyPartitionsInTransaction``: nothing changes."""
    if known is None:
        return UNKNOWN_ID, known
    if refused := _refused(known, asked):
        return refused, known
    return ModelAnswer("NONE" if asked.partitions <= known.partitions else "TRANSACTION_ABORTABLE"), known


def _refused(known: Coordinated, asked: AddPartitionsAsked) -> ModelAnswer | None:
    if known.producer_id != asked.producer_id:
        return UNKNOWN_ID
    if known.epoch != asked.epoch:
        return FENCED
    return BUSY if known.state.preparing else None


def end_transaction(known: Known, asked: EndTxnAsked, fresh: int) -> Ruled:
    """EndTxn: up to version 4 the epoch stays, from version 5 on it is bumped (KIP-890 part 2)."""
    if known is None:
        return UNKNOWN_ID, known
    ruled = _ended_new(known, asked, fresh) if asked.version >= NEW_PROTOCOL_END else _ended_old(known, asked)
    return _named_for(ruled[0], asked.version, since=2), ruled[1]


def _ended_old(known: Coordinated, asked: EndTxnAsked) -> Ruled:
    """``endTransactionWithTV1``."""
    if known.producer_id != asked.producer_id:
        return UNKNOWN_ID, known
    if known.epoch != asked.epoch:
        return FENCED, known
    if known.state.preparing:
        return BUSY, known
    if known.state is CoordinatorState.ONGOING:
        state = _prepare(commit=asked.commit)
        return ModelAnswer(), _moved(known, state=state, ending=known.partitions, new_protocol=False)
    return _repeated(known, commit=asked.commit), known


def _ended_new(known: Coordinated, asked: EndTxnAsked, fresh: int) -> Ruled:
    """``endTransaction``: whether it is a repetition is told by the epoch, and not by the state."""
    own_id, own_epoch = known.producer_id == asked.producer_id, known.epoch == asked.epoch
    overflowed = known.previous_id == asked.producer_id and asked.epoch == LAST_EPOCH - 1 and known.epoch == 0
    repeated = overflowed or known.epoch == asked.epoch + 1
    if known.state.preparing:
        return BUSY, known
    if not own_id and not overflowed:
        return UNKNOWN_ID, known
    if not own_epoch and not (repeated and known.state.complete):
        return FENCED, known
    if repeated:
        answer = _repeated(known, commit=asked.commit)
        return (_told(known) if answer.accepted else answer), known
    return _begin_to_end(known, asked, fresh)


def _begin_to_end(known: Coordinated, asked: EndTxnAsked, fresh: int) -> Ruled:
    """An abort is taken in any state that is not ending, a commit in Ongoing (KIP-890, EndTxn of the new protocol)."""
    if asked.commit and known.state is not CoordinatorState.ONGOING:
        return WRONG_STATE, known
    if known.epoch == LAST_EPOCH:
        return ModelAnswer("UNKNOWN_SERVER_ERROR"), known  # a coordinator's abort has left it there (KAFKA-20090)
    next_id = fresh if known.exhausted else NONE
    partitions = known.partitions if known.state is CoordinatorState.ONGOING else frozenset[str]()
    after = _moved(
        known,
        state=_prepare(commit=asked.commit),
        epoch=known.epoch + 1,
        last_epoch=known.epoch,
        next_id=next_id,
        partitions=partitions,
        ending=partitions,
        new_protocol=True,
    )
    return _told(after if next_id == NONE else completed(after)), after


def _told(known: Coordinated) -> ModelAnswer:
    return ModelAnswer(producer_id=known.producer_id, epoch=known.epoch)


def _repeated(known: Coordinated, *, commit: bool) -> ModelAnswer:
    """The same end again, once the markers are written; anything else is no transition that there is."""
    same = CoordinatorState.COMPLETE_COMMIT if commit else CoordinatorState.COMPLETE_ABORT
    return ModelAnswer() if known.state is same else WRONG_STATE


def _prepare(*, commit: bool) -> CoordinatorState:
    return CoordinatorState.PREPARE_COMMIT if commit else CoordinatorState.PREPARE_ABORT


def completed(known: Coordinated) -> Coordinated:
    """After the last marker; an exhausted producer id is left for the next one (``prepareComplete``)."""
    commits = known.state is CoordinatorState.PREPARE_COMMIT
    state = CoordinatorState.COMPLETE_COMMIT if commits else CoordinatorState.COMPLETE_ABORT
    done = _moved(known, state=state, partitions=frozenset(), ending=frozenset(), next_id=NONE)
    if known.next_id == NONE:
        return done
    return replace(done, producer_id=known.next_id, epoch=0, previous_id=known.producer_id)


def read_back(known: Coordinated, profile: ProtocolProfile) -> Coordinated:
    """What the next coordinator knows; the last epoch is in no record (KAFKA-20357)."""
    recorded = replace(unmarked(known), last_epoch=NONE)
    if profile.level >= TAGGED_RECORDS and profile.records_name_ids:
        return recorded
    return replace(recorded, previous_id=NONE, next_id=NONE)


def unmarked(known: Coordinated) -> Coordinated:
    """As before any answer to its markers."""
    return replace(known, partitions=known.ending) if known.state.preparing else known


def listed(known: Known, asked: ListTransactionsAsked, profile: ProtocolProfile) -> tuple[ModelAnswer, ...]:
    """The id in the list, if no filter leaves it out (``TransactionStateManager.listTransactionStates``).

    An hour is longer than any transaction here. An id in Empty has no time at which it began (-1), and so counts as
    open for longer than that (KIP-994 speaks of transactions); before 4.1 it may have that of its last transaction
    (``TransactionMetadata.completeTransitionTo``), so that both are allowed.
    """
    if asked.pattern is ListedPattern.INVALID:
        return (ModelAnswer("INVALID_REGULAR_EXPRESSION"),)
    if asked.pattern is ListedPattern.NO_ID:
        return (ModelAnswer(),)
    if known is None or asked.producer_id not in (NONE, known.producer_id):
        return (ModelAnswer(),)
    if asked.states and known.state not in asked.states:
        return (ModelAnswer(state=unknown_states_told([*{*asked.states} - {*map(str, CoordinatorState)}])),)
    here = ModelAnswer(producer_id=known.producer_id, state=str(known.state))
    if asked.duration_ms == NONE:
        return (here,)
    if known.state is not CoordinatorState.EMPTY:
        return (ModelAnswer(),)
    return (here,) if profile.empty_has_no_begin else (here, ModelAnswer())


def unknown_states_told(states: Iterable[str]) -> str:
    """What a broker says of filters for states that there are not; a list without the id tells it."""
    named = "+".join(sorted(states))
    return f"no state is {named}" if named else ""


def described(known: Known, *, elsewhere: bool) -> ModelAnswer:
    """DescribeTransactions (KIP-664): nothing changes (``TransactionCoordinator.handleDescribeTransactions``)."""
    if elsewhere:
        return ModelAnswer("NOT_COORDINATOR")
    if known is None:
        return ModelAnswer("TRANSACTIONAL_ID_NOT_FOUND")
    return ModelAnswer(
        producer_id=known.producer_id, epoch=known.epoch, state=described_state(known.state, known.partitions)
    )


def described_state(state: str, partitions: Iterable[str]) -> str:
    """With the partitions that are part of the transaction, or whose markers are still to be written."""
    named = "+".join(sorted(partitions))
    return f"{state} with {named}" if named else str(state)


def _named_for(answer: ModelAnswer, version: int, *, since: int) -> ModelAnswer:
    """Clients of before KIP-588 know PRODUCER_FENCED by another name (``KafkaApis``)."""
    return ModelAnswer("INVALID_PRODUCER_EPOCH") if answer == FENCED and version < since else answer
