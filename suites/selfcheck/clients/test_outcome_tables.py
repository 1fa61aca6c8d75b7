"""The error tables: complete for what can be answered, a reason a row, and the law over all of them."""

import pytest
from confluent_kafka import KafkaError

from harness.base.kafka_error import NAMES
from harness.clients.librdkafka import librdkafka_outcomes
from harness.clients.outcome_table import OutcomeRow, outcome_after, refused, unsure
from harness.clients.wire import wire_outcomes
from harness.evidence.operation import Outcome, Verb

WIRE_ROWS = [(api, code, row) for api, table in wire_outcomes.TABLES.items() for code, row in table.items()]
LIBRARY_ROWS = [(verb, code, row) for verb, table in librdkafka_outcomes.TABLES.items() for code, row in table.items()]
OWN_CODES = {
    name: value for name in dir(KafkaError) if isinstance(value := getattr(KafkaError, name), int) and value < -1
}
# From the error handling of Kafka's own producer (Sender, TransactionManager's handlers) and of the broker's KafkaApis.
ANSWERED = {
    "InitProducerId": {14, 15, 16, 31, 35, 42, 47, 50, 51, 53, 90, 120},
    "AddPartitionsToTxn": {3, 14, 15, 16, 29, 47, 48, 49, 51, 53, 55, 90, 120},
    "Produce": {
        2, 3, 5, 6, 7, 10, 14, 15, 16, 17, 18, 19, 20, 21, 29, 31, 32, 44, 45, 46, 47, 48, 49, 51, 53, 56, 59, 76, 87,
        90, 120,
    },
    "AddOffsetsToTxn": {14, 15, 16, 30, 47, 48, 49, 51, 53, 90, 120},
    "TxnOffsetCommit": {3, 14, 15, 16, 22, 24, 25, 27, 29, 30, 47, 48, 49, 51, 53, 82, 90, 120},
    "EndTxn": {14, 15, 16, 42, 47, 48, 49, 51, 52, 53, 90, 120},
    "JoinGroup": {14, 15, 16, 22, 23, 24, 25, 26, 27, 30, 79, 81, 82},
}  # fmt: skip


def test_every_code_of_the_wire_table_is_kafkas_and_every_row_has_a_reason() -> None:
    assert {code for _, code, _ in WIRE_ROWS} <= NAMES.keys() - {0}
    assert all(len(row.reason.split()) > 2 for _, _, row in WIRE_ROWS)


@pytest.mark.parametrize("api", sorted(ANSWERED))
def test_what_a_broker_can_answer_is_listed(api: str) -> None:
    assert wire_outcomes.TABLES[api].keys() >= ANSWERED[api]


def test_a_code_that_nobody_listed_is_unsure() -> None:
    for api in wire_outcomes.TABLES:
        assert wire_outcomes.row_of(api, 9_999).outcome is Outcome.UNSURE
    for verb in librdkafka_outcomes.TABLES:
        assert librdkafka_outcomes.row_of(verb, -9_999, retriable=False).outcome is Outcome.UNSURE


def test_codes_that_may_come_after_the_append_are_never_refusals_of_a_write() -> None:
    after_the_append = {
        "Produce": (3, 6, 7, 13, 20, 56, -1),
        "EndTxn": (7, 15, 16, 52, -1),
        "TxnOffsetCommit": (15, 16),
    }
    for api, codes in after_the_append.items():
        assert {wire_outcomes.row_of(api, code).outcome for code in codes} == {Outcome.UNSURE}, api


@pytest.mark.parametrize("code", [47, 90])
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
    assert done == [("Produce", 46)]
    assert outcome_after(wire_outcomes.row_of("Produce", 46), doubt=True) is Outcome.DONE
    assert outcome_after(wire_outcomes.row_of("Produce", 46), doubt=False) is Outcome.REFUSED


def test_the_librdkafka_table_speaks_of_codes_that_the_library_has_and_gives_each_a_reason() -> None:
    assert {code for _, code, _ in LIBRARY_ROWS} <= set(OWN_CODES.values())
    assert all(len(row.reason.split()) > 2 for _, _, row in LIBRARY_ROWS)


def test_a_retriable_error_of_librdkafka_goes_on_in_the_background_and_is_unsure() -> None:
    verbs: tuple[Verb, ...] = ("init", "send_offsets", "commit", "abort")
    for verb in verbs:
        assert librdkafka_outcomes.row_of(verb, KafkaError._TIMED_OUT, retriable=True).outcome is Outcome.UNSURE
        assert librdkafka_outcomes.row_of(verb, 16, retriable=True).outcome is Outcome.UNSURE


@pytest.mark.parametrize(
    ("verb", "code", "outcome"),
    [
        ("produce", KafkaError._MSG_TIMED_OUT, Outcome.UNSURE),
        ("produce", KafkaError._PURGE_INFLIGHT, Outcome.UNSURE),
        ("produce", KafkaError._PURGE_QUEUE, Outcome.REFUSED),
        ("produce", KafkaError._FENCED, Outcome.REFUSED),
        ("produce", KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, Outcome.REFUSED),
        ("commit", KafkaError._INCONSISTENT, Outcome.REFUSED),
        ("commit", KafkaError._STATE, Outcome.REFUSED),
        ("commit", KafkaError.COORDINATOR_NOT_AVAILABLE, Outcome.UNSURE),
        ("commit", KafkaError.INVALID_TXN_STATE, Outcome.REFUSED),
        ("send_offsets", KafkaError.ILLEGAL_GENERATION, Outcome.REFUSED),
    ],
)
def test_what_an_error_of_librdkafka_means(verb: Verb, code: int, outcome: Outcome) -> None:
    assert librdkafka_outcomes.row_of(verb, code, retriable=False).outcome is outcome


def test_codes_of_the_library_are_not_given_as_kafkas_save_fencing() -> None:
    codes = {name: librdkafka_outcomes.kafka_code(code) for name, code in OWN_CODES.items()}
    assert {name: code for name, code in codes.items() if code is not None} == {"_FENCED": 90}
    assert librdkafka_outcomes.kafka_code(KafkaError.INVALID_TXN_STATE) == 48


def test_no_row_is_a_success() -> None:
    assert all(
        isinstance(row, OutcomeRow) and row.outcome is not Outcome.DONE for _, _, row in (*WIRE_ROWS, *LIBRARY_ROWS)
    )
