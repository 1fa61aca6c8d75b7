"""The error tables: complete for what can be answered, a reason a row, and the law over all of them."""

import pytest

from harness.base.kafka_error import NAMES, KafkaError
from harness.clients.outcome_table import OutcomeRow, outcome_after, refused, unsure
from harness.clients.wire import wire_outcomes
from harness.evidence.history.operation import Outcome

WIRE_ROWS = [(api, code, row) for api, table in wire_outcomes.TABLES.items() for code, row in table.items()]


def named(names: str) -> set[int]:
    """Errors by their names, spaces between them."""
    return {KafkaError[name] for name in names.split()}


# From the error handling of Kafka's own producer (Sender, TransactionManager's handlers) and of the broker's KafkaApis.
ANSWERED = {
    "InitProducerId": named(
        "COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR CLUSTER_AUTHORIZATION_FAILED "
        "UNSUPPORTED_VERSION INVALID_REQUEST INVALID_PRODUCER_EPOCH INVALID_TRANSACTION_TIMEOUT "
        "CONCURRENT_TRANSACTIONS TRANSACTIONAL_ID_AUTHORIZATION_FAILED PRODUCER_FENCED TRANSACTION_ABORTABLE"
    ),
    "AddPartitionsToTxn": named(
        "UNKNOWN_TOPIC_OR_PARTITION COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR "
        "TOPIC_AUTHORIZATION_FAILED INVALID_PRODUCER_EPOCH INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING "
        "CONCURRENT_TRANSACTIONS TRANSACTIONAL_ID_AUTHORIZATION_FAILED OPERATION_NOT_ATTEMPTED PRODUCER_FENCED "
        "TRANSACTION_ABORTABLE"
    ),
    "Produce": named(
        "CORRUPT_MESSAGE UNKNOWN_TOPIC_OR_PARTITION LEADER_NOT_AVAILABLE NOT_LEADER_OR_FOLLOWER REQUEST_TIMED_OUT "
        "MESSAGE_TOO_LARGE COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR "
        "INVALID_TOPIC_EXCEPTION RECORD_LIST_TOO_LARGE NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND "
        "INVALID_REQUIRED_ACKS TOPIC_AUTHORIZATION_FAILED CLUSTER_AUTHORIZATION_FAILED INVALID_TIMESTAMP "
        "POLICY_VIOLATION OUT_OF_ORDER_SEQUENCE_NUMBER DUPLICATE_SEQUENCE_NUMBER INVALID_PRODUCER_EPOCH "
        "INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING CONCURRENT_TRANSACTIONS "
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED KAFKA_STORAGE_ERROR UNKNOWN_PRODUCER_ID "
        "UNSUPPORTED_COMPRESSION_TYPE INVALID_RECORD PRODUCER_FENCED TRANSACTION_ABORTABLE"
    ),
    "AddOffsetsToTxn": named(
        "COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR GROUP_AUTHORIZATION_FAILED "
        "INVALID_PRODUCER_EPOCH INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING CONCURRENT_TRANSACTIONS "
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED PRODUCER_FENCED TRANSACTION_ABORTABLE"
    ),
    "TxnOffsetCommit": named(
        "UNKNOWN_TOPIC_OR_PARTITION COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR "
        "ILLEGAL_GENERATION INVALID_GROUP_ID UNKNOWN_MEMBER_ID REBALANCE_IN_PROGRESS TOPIC_AUTHORIZATION_FAILED "
        "GROUP_AUTHORIZATION_FAILED INVALID_PRODUCER_EPOCH INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING "
        "CONCURRENT_TRANSACTIONS TRANSACTIONAL_ID_AUTHORIZATION_FAILED FENCED_INSTANCE_ID PRODUCER_FENCED "
        "TRANSACTION_ABORTABLE"
    ),
    "EndTxn": named(
        "COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR INVALID_REQUEST "
        "INVALID_PRODUCER_EPOCH INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING CONCURRENT_TRANSACTIONS "
        "TRANSACTION_COORDINATOR_FENCED TRANSACTIONAL_ID_AUTHORIZATION_FAILED PRODUCER_FENCED "
        "TRANSACTION_ABORTABLE"
    ),
    "JoinGroup": named(
        "COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR ILLEGAL_GENERATION "
        "INCONSISTENT_GROUP_PROTOCOL INVALID_GROUP_ID UNKNOWN_MEMBER_ID INVALID_SESSION_TIMEOUT "
        "REBALANCE_IN_PROGRESS GROUP_AUTHORIZATION_FAILED MEMBER_ID_REQUIRED GROUP_MAX_SIZE_REACHED "
        "FENCED_INSTANCE_ID"
    ),
}


def test_every_code_of_the_wire_table_is_kafkas_and_every_row_has_a_reason() -> None:
    assert {code for _, code, _ in WIRE_ROWS} <= NAMES.keys() - {0}
    assert all(len(row.reason.split()) > 2 for _, _, row in WIRE_ROWS)


@pytest.mark.parametrize("api", sorted(ANSWERED))
def test_what_a_broker_can_answer_is_listed(api: str) -> None:
    assert wire_outcomes.TABLES[api].keys() >= ANSWERED[api]


def test_an_error_code_outside_the_tables_is_unsure() -> None:
    for api in wire_outcomes.TABLES:
        assert wire_outcomes.row_of(api, 9_999).outcome is Outcome.UNSURE


def test_codes_that_may_come_after_the_append_are_never_refusals_of_a_write() -> None:
    after_the_append = {
        "Produce": named(
            "UNKNOWN_TOPIC_OR_PARTITION NOT_LEADER_OR_FOLLOWER REQUEST_TIMED_OUT NETWORK_EXCEPTION "
            "NOT_ENOUGH_REPLICAS_AFTER_APPEND KAFKA_STORAGE_ERROR UNKNOWN_SERVER_ERROR"
        ),
        "EndTxn": named(
            "REQUEST_TIMED_OUT COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR "
            "TRANSACTION_COORDINATOR_FENCED UNKNOWN_SERVER_ERROR"
        ),
        "TxnOffsetCommit": named("COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR"),
    }
    for api, codes in after_the_append.items():
        assert {wire_outcomes.row_of(api, code).outcome for code in codes} == {Outcome.UNSURE}, api


@pytest.mark.parametrize("code", [KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED])
@pytest.mark.parametrize("api", ["InitProducerId", "AddPartitionsToTxn", "Produce", "TxnOffsetCommit", "EndTxn"])
def test_fencing_is_a_refusal_for_good(api: str, code: int) -> None:
    row = wire_outcomes.row_of(api, code)
    assert (row.outcome, row.again) == (Outcome.REFUSED, False)


def test_a_refusal_after_doubt_is_unsure_and_nothing_else_changes() -> None:
    assert outcome_after(refused("no"), doubt=False) is Outcome.REFUSED
    assert outcome_after(refused("no"), doubt=True) is Outcome.UNSURE
    assert outcome_after(unsure("who knows"), doubt=False) is Outcome.UNSURE
    assert outcome_after(unsure("who knows"), doubt=True) is Outcome.UNSURE


def test_only_a_duplicate_sequence_number_is_done_after_doubt() -> None:
    done = [(api, code) for api, code, row in WIRE_ROWS if outcome_after(row, doubt=True) is not Outcome.UNSURE]
    assert done == [("Produce", KafkaError.DUPLICATE_SEQUENCE_NUMBER)]
    assert (
        outcome_after(wire_outcomes.row_of("Produce", KafkaError.DUPLICATE_SEQUENCE_NUMBER), doubt=True) is Outcome.DONE
    )
    assert (
        outcome_after(wire_outcomes.row_of("Produce", KafkaError.DUPLICATE_SEQUENCE_NUMBER), doubt=False)
        is Outcome.REFUSED
    )


def test_no_row_is_a_success() -> None:
    assert all(isinstance(row, OutcomeRow) and row.outcome is not Outcome.DONE for _, _, row in WIRE_ROWS)
