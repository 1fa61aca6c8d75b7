"""What is asked beside the look: other brokers, partitions that are not there, writes of no transaction, timeouts."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from harness.model.model_requests import (
    AddPartitionsAsked,
    DescribedBy,
    DescribeProducerAsked,
    DescribeTransactionAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ListedPattern,
    ListTransactionsAsked,
    ModelAnswer,
    ModelRequest,
    ProduceAsked,
)
from harness.model.model_state import NONE, ModelCluster, fresh_cluster
from harness.model.protocol_profile import NEWEST
from harness.model.protocol_step import outcomes, settled

INIT = InitProducerIdAsked(id="own", version=4)
WRITE = ProduceAsked(id="own", version=12, partition="A", producer_id=0, epoch=0, sequence=0)
COMMIT = EndTxnAsked(id="own", version=5, producer_id=0, epoch=0, commit=True)


def plain(*, epoch: int = 0, sequence: int = 0) -> ProduceAsked:
    return ProduceAsked(
        id="own",
        version=12,
        partition="A",
        producer_id=0,
        epoch=epoch,
        sequence=sequence,
        names_id=False,
        transactional=False,
    )


def asked(*path: ModelRequest) -> tuple[Sequence[ModelAnswer], ModelCluster]:
    cluster, answers = fresh_cluster("A", "B"), []
    for each in path:
        outcome = outcomes(cluster, each, NEWEST)[0]
        answers.append(outcome.answer)
        cluster = settled(outcome.after, NEWEST)
    return answers, cluster


def last(*path: ModelRequest) -> ModelAnswer:
    return asked(*path)[0][-1]


def test_a_write_of_no_transaction_is_refused_while_one_is_open_and_taken_behind_it() -> None:
    assert last(INIT, WRITE, plain(sequence=1)).error == "INVALID_TXN_STATE"
    answers, cluster = asked(INIT, WRITE, COMMIT, plain(epoch=1))
    assert answers[-1].accepted
    assert cluster.log("A").last_stable_offset == len(cluster.log("A").entries) == 3
    assert last(INIT, WRITE, plain()).accepted, "the batch that was written comes again"
    assert last(INIT, WRITE, COMMIT, plain()).error == "INVALID_PRODUCER_EPOCH"
    assert last(INIT, WRITE, COMMIT, plain(epoch=1, sequence=2)).error == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_a_transactional_batch_needs_the_id_and_a_write_of_no_transaction_ends_no_verification() -> None:
    unnamed = replace(WRITE, names_id=False)
    answers, cluster = asked(INIT, unnamed)
    assert answers[-1].error == "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
    assert cluster == asked(INIT)[1]
    gapped = replace(WRITE, sequence=2)
    refused, waiting = asked(INIT, gapped, plain())
    assert [each.error for each in refused[1:]] == ["OUT_OF_ORDER_SEQUENCE_NUMBER", "NONE"]
    assert 0 in waiting.log("A").verifications


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_partition_that_is_not_there_keeps_the_others_out(version: int) -> None:
    add = AddPartitionsAsked(id="own", version=version, producer_id=0, epoch=0, partitions=frozenset("AX"))
    answers, cluster = asked(INIT, add)
    assert answers[-1].error == "UNKNOWN_TOPIC_OR_PARTITION"
    assert cluster == asked(INIT)[1]


@pytest.mark.parametrize(("timeout_ms", "error"), [(0, "INVALID_TRANSACTION_TIMEOUT"), (60_000, "NONE")])
def test_a_timeout_is_kept_where_brokers_allow_it(timeout_ms: int, error: str) -> None:
    again = InitProducerIdAsked(id="own", version=5, timeout_ms=timeout_ms)
    answers, cluster = asked(INIT, again)
    assert answers[-1].error == error
    assert cluster.ids["own"].timeout_ms == (timeout_ms if error == "NONE" else NONE)


def test_an_id_is_described_by_its_own_coordinator_alone() -> None:
    here, elsewhere = DescribeTransactionAsked(id="own"), DescribeTransactionAsked(id="own", elsewhere=True)
    assert last(here).error == "TRANSACTIONAL_ID_NOT_FOUND"
    assert last(INIT, WRITE, here) == ModelAnswer(producer_id=0, epoch=0, state="Ongoing with A")
    assert last(INIT, WRITE, elsewhere).error == "NOT_COORDINATOR"


def test_replicas_describe_producers_and_other_brokers_do_not() -> None:
    def by(which: DescribedBy, partition: str = "A") -> ModelAnswer:
        return last(INIT, WRITE, DescribeProducerAsked(partition=partition, producer_id=0, by=which))

    assert by(DescribedBy.FOLLOWER) == by(DescribedBy.LEADER)
    assert by(DescribedBy.LEADER).state == "epoch 0, last sequence 0, open"
    assert by(DescribedBy.LEADER, "B") == ModelAnswer()
    assert by(DescribedBy.STRANGER).error == "NOT_LEADER_OR_FOLLOWER"
    assert by(DescribedBy.LEADER, "X").error == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_list_has_the_ids_that_its_pattern_fits() -> None:
    def fitting(pattern: ListedPattern) -> ModelAnswer:
        return last(INIT, ListTransactionsAsked(id="own", version=2, producer_id=0, pattern=pattern))

    assert fitting(ListedPattern.OWN) == fitting(ListedPattern.ANY) == ModelAnswer(producer_id=0, state="Empty")
    assert fitting(ListedPattern.NO_ID) == ModelAnswer()
    assert fitting(ListedPattern.INVALID).error == "INVALID_REGULAR_EXPRESSION"


def test_nobody_has_the_empty_id() -> None:
    nameless: Sequence[ModelRequest] = (
        InitProducerIdAsked(id="", version=5),
        EndTxnAsked(id="", version=5, producer_id=0, epoch=0, commit=True),
        DescribeTransactionAsked(id=""),
    )
    assert {last(INIT, each).error for each in nameless} == {"INVALID_REQUEST"}
