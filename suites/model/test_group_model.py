"""A group's offsets in the model: pending until the marker, then shown or gone, and never of an aborted transaction."""

from typing import TypeAlias

from harness.model.exploration import explore
from harness.model.groups.group_model import UNSTABLE, loaded, shown
from harness.model.model_requests import (
    AddOffsetsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ListTransactionsAsked,
    ModelRequest,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import GROUP, NONE, CoordinatorState, LogEntry, ModelCluster, PartitionLog, fresh_cluster
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, UNDEFENDED, ProtocolProfile
from harness.model.protocol_step import leader_moved, outcomes, settled
from suites.model.scopes import old_client

Path: TypeAlias = tuple[ModelRequest, ...]
INIT = InitProducerIdAsked(id="own", version=4)


def add(epoch: int = 0) -> AddOffsetsAsked:
    return AddOffsetsAsked(id="own", version=3, producer_id=0, epoch=epoch)


def offset(number: int, *, epoch: int = 0, version: int = 3, generation: int = NONE) -> TxnOffsetCommitAsked:
    return TxnOffsetCommitAsked(
        id="own", version=version, producer_id=0, epoch=epoch, offset=number, generation=generation
    )


def end(*, commit: bool, epoch: int = 0, version: int = 3) -> EndTxnAsked:
    return EndTxnAsked(id="own", version=version, producer_id=0, epoch=epoch, commit=commit)


def asked(requests: Path, profile: ProtocolProfile = NEWEST) -> tuple[list[str], ModelCluster]:
    """The errors, and what is left."""
    cluster, errors = fresh_cluster("A"), list[str]()
    for each in requests:
        (outcome,) = outcomes(cluster, each, profile)
        cluster = settled(outcome.after, profile)
        errors.append(outcome.answer.error)
    return errors, cluster


def offsets(cluster: ModelCluster) -> tuple[tuple[str, int], int]:
    """With and without ``require_stable``."""
    group = cluster.groups[GROUP]
    return shown(group, stable=True), shown(group, stable=False)[1]


def test_an_offset_is_pending_until_its_transaction_commits() -> None:
    errors, cluster = asked(
        (
            INIT,
            add(),
            offset(5),
        )
    )
    assert errors == ["NONE"] * 3
    assert offsets(cluster) == ((UNSTABLE, NONE), NONE)
    assert cluster.ids["own"].partitions == {GROUP}
    _, cluster = asked(
        (
            INIT,
            add(),
            offset(5),
            end(commit=True),
        )
    )
    assert offsets(cluster) == (("NONE", 5), 5)


def test_an_aborted_offset_leaves_the_one_before_it() -> None:
    path: Path = (INIT, add(), offset(5), end(commit=True), add(), offset(6), end(commit=False))
    errors, cluster = asked(path)
    assert errors == ["NONE"] * len(path)
    assert offsets(cluster) == (("NONE", 5), 5)


def test_of_two_offsets_of_a_transaction_the_later_one_holds() -> None:
    _, cluster = asked(
        (
            INIT,
            add(),
            offset(6),
            offset(5),
            end(commit=True),
        )
    )
    assert offsets(cluster) == (("NONE", 5), 5)


def test_of_two_producers_the_later_record_holds_whichever_is_committed_last() -> None:
    entries = (
        LogEntry(1, 0, sequence=0, offset=7),
        LogEntry(2, 0, sequence=0, offset=8),
        LogEntry(2, 0, marker=True),
        LogEntry(1, 0, marker=True),
    )
    groups = [loaded(PartitionLog(entries=entries[:count])) for count in (2, 3, 4)]
    assert [shown(group, stable=False)[1] for group in groups] == [NONE, 8, 8]


def test_a_new_client_needs_no_add_and_an_old_one_is_refused_without() -> None:
    errors, cluster = asked(
        (
            INIT,
            offset(5, version=5),
            end(commit=True, version=5),
        )
    )
    assert errors == ["NONE"] * 3
    assert offsets(cluster) == (("NONE", 5), 5)
    assert (
        asked(
            (
                INIT,
                offset(5, version=3),
            )
        )[0][-1]
        == "INVALID_TXN_STATE"
    )
    assert (
        asked(
            (
                INIT,
                offset(5, version=4),
            )
        )[0][-1]
        == "TRANSACTION_ABORTABLE"
    )


def test_a_generation_names_a_member_that_there_is_not() -> None:
    assert (
        asked(
            (
                INIT,
                add(),
                offset(5, generation=0),
            )
        )[0][-1]
        == "ILLEGAL_GENERATION"
    )
    assert (
        asked(
            (
                INIT,
                add(),
                offset(5),
                offset(6, generation=0),
            )
        )[0][-1]
        == "UNKNOWN_MEMBER_ID"
    )
    assert (
        asked(
            (
                INIT,
                add(),
                offset(5, generation=0),
            ),
            OLD_PROTOCOL,
        )[0][-1]
        == "UNKNOWN_MEMBER_ID"
    )


def test_a_refused_offset_takes_the_accepted_one_with_it_before_4_0_until_the_group_is_loaded_again() -> None:
    path: Path = (INIT, INIT, add(1), offset(5, epoch=1), offset(4, epoch=0), end(commit=True, epoch=1))
    errors, cluster = asked(path, OLD_PROTOCOL)
    assert errors[3:] == ["NONE", "INVALID_PRODUCER_EPOCH", "NONE"]
    assert offsets(cluster) == (("NONE", NONE), NONE)
    assert offsets(leader_moved(cluster, GROUP)) == (("NONE", 5), 5)
    assert offsets(asked(path)[1]) == (("NONE", 5), 5)


def test_a_late_offset_stays_pending_for_ever_where_nothing_is_verified() -> None:
    errors, cluster = asked(
        (
            INIT,
            add(),
            end(commit=False),
            offset(5),
        ),
        UNDEFENDED,
    )
    assert errors[-1] == "NONE"
    assert offsets(cluster) == ((UNSTABLE, NONE), NONE)
    assert (
        asked(
            (
                INIT,
                add(),
                end(commit=False),
                offset(5),
            ),
            OLD_PROTOCOL,
        )[0][-1]
        == "INVALID_TXN_STATE"
    )


def test_another_leader_of_the_group_knows_the_same_offsets() -> None:
    path: Path = (INIT, add(), offset(5), end(commit=True), add(), offset(6))
    for requests in (path[:3], path):
        _, cluster = asked(requests)
        assert leader_moved(cluster, GROUP).groups == cluster.groups


def test_a_record_and_an_offset_are_committed_together_or_not_at_all() -> None:
    result = explore(OLD_PROTOCOL, (old_client("one", "A", GROUP),))
    assert (result.broken, result.whole) == (None, True)


def listed(cluster: ModelCluster, **filters: object) -> str:
    request = ListTransactionsAsked(id="own", version=1, **{"producer_id": 0, **filters})  # type: ignore[arg-type]
    return outcomes(cluster, request, NEWEST)[0].answer.state


def test_an_id_is_listed_unless_a_filter_leaves_it_out() -> None:
    _, cluster = asked(
        (
            INIT,
            add(),
        )
    )
    assert listed(cluster) == CoordinatorState.ONGOING
    assert listed(cluster, states=("Ongoing", "Empty")) == CoordinatorState.ONGOING
    assert listed(cluster, states=("Empty",)) == listed(cluster, producer_id=1) == ""
    assert listed(cluster, duration_ms=3_600_000) == ""
    assert listed(asked((INIT,))[1], duration_ms=3_600_000) == CoordinatorState.EMPTY
    assert listed(fresh_cluster("A")) == ""
