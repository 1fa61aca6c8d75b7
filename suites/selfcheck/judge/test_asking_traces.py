"""Requests outside of all rules (verb ``ask``) in the trace of a transactional id: what explains their answers."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.base.kafka_error import KafkaError
from harness.evidence.history.asked_request import AskedApi, AskedRequest
from harness.evidence.json_codec import to_json
from harness.judge.client_trace import ClientTrace
from harness.model.protocol_profile import NEWEST
from harness.model.traces.trace_check import Explained, check_trace
from harness.wire.records.transaction_state import state_partition
from suites.selfcheck.judge.test_client_trace import NEVER, row, stale

OWN = {"producer_id": 7, "epoch": 0}
EPOCH, MAPPING = KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.INVALID_PRODUCER_ID_MAPPING
WRITE = row(3, "produce", topic="t", partition=0)
OPEN, EMPTY = "Ongoing with t-0", "Empty with "


def ask(api: AskedApi, number: int = 4, *, claims: Mapping[str, Any] = OWN, **given: Any) -> Mapping[str, Any]:
    """A request, done and with nothing told unless given."""
    topic = "t" if api in ("AddPartitionsToTxn", "Produce") else ""
    request = to_json(AskedRequest(api=api, topic=topic, **claims))
    return row(number, "ask", **{"producer_id": None, "epoch": None, "request": request, **given})


def refused(api: AskedApi, error: KafkaError, **given: Any) -> Mapping[str, Any]:
    """The same, refused."""
    return ask(api, outcome="refused", error=error, **given)


def explained(*rows: Mapping[str, Any], **windows: Any) -> Explained:
    """Of an InitProducerId, the begin of a transaction, a record of it, and what is given."""
    before = [row(1, "init"), row(2, "begin", tries=0), WRITE]
    trace = ClientTrace.of("t", [*before, *rows], **windows)
    return check_trace(trace.requests, NEWEST, timeout_ms=NEVER, missing=frozenset(trace.missing)).explained


ANOTHERS = {"producer_id": 8, "epoch": 0}
HALF = {"producer_id": 7, "epoch": -1}


@pytest.mark.parametrize(
    ("api", "claims", "error"),
    [
        ("InitProducerId", ANOTHERS, KafkaError.PRODUCER_FENCED),
        ("InitProducerId", HALF, KafkaError.INVALID_REQUEST),
        ("AddPartitionsToTxn", ANOTHERS, MAPPING),
        ("EndTxn", ANOTHERS, MAPPING),
    ],
)
def test_a_request_with_an_identity_that_is_not_the_ids_must_be_refused(
    api: AskedApi, claims: Mapping[str, Any], error: KafkaError
) -> None:
    assert explained(refused(api, error, claims=claims)) is Explained.YES
    told = {"producer_id": 7, "epoch": 1} if api != "AddPartitionsToTxn" else {}
    assert explained(ask(api, claims=claims, **told)) is Explained.NO


def test_a_refusal_of_what_is_right_is_not_explained() -> None:
    assert explained(ask("AddPartitionsToTxn")) is Explained.YES
    assert explained(refused("AddPartitionsToTxn", MAPPING)) is Explained.NO


def test_a_coordinator_that_says_later_has_done_nothing_and_says_nothing() -> None:
    later = refused("AddPartitionsToTxn", KafkaError.CONCURRENT_TRANSACTIONS, claims=ANOTHERS)
    assert explained(later) is Explained.YES


def test_an_end_that_was_asked_has_ended_the_transaction() -> None:
    ended = ask("EndTxn", producer_id=7, epoch=1)
    assert explained(ended, row(5, "init", epoch=2)) is Explained.YES
    assert explained(ended, row(5, "init", epoch=1)) is Explained.NO


def test_an_end_without_an_answer_may_have_ended_it() -> None:
    """An InitProducerId that is answered at once found no open transaction."""
    after, unsure = row(5, "init", actor="b", epoch=2), ask("EndTxn", outcome="unsure", error=None)
    assert explained(after) is Explained.NO
    assert explained(unsure, after) is Explained.YES


@pytest.mark.parametrize(
    ("state", "answer"), [(OPEN, Explained.YES), (EMPTY, Explained.NO), ("Ongoing with t-1", Explained.NO)]
)
def test_a_description_tells_the_state_that_the_transaction_is_in(state: str, answer: Explained) -> None:
    assert explained(ask("DescribeTransactions", claims={}, state=state, **OWN)) is answer


def test_a_broker_whose_place_is_taken_describes_what_was() -> None:
    described = ask("DescribeTransactions", claims={}, state=EMPTY, **OWN)
    assert explained(described, stale=stale((4.2, 9))) is Explained.YES
    assert explained(described, stale=stale((0, 0.5))) is Explained.NO


def test_of_another_id_that_one_is_asked_for_its_coordinator_counts() -> None:
    unknown: Mapping[str, Any] = {"transactional_id": "nobody"}
    found = ask("DescribeTransactions", claims=unknown, state=EMPTY, **OWN)
    own, other = "__transaction_state-4", f"__transaction_state-{state_partition('nobody', 7)}"
    assert own != other
    assert explained(found, stale=stale((4.2, 9), other, state_partitions=7)) is Explained.YES
    assert explained(found, stale=stale((4.2, 9), own, state_partitions=7)) is Explained.NO


def test_an_open_transaction_in_another_epoch_is_one_that_is_being_fenced() -> None:
    """The epoch is raised before it is written down that the transaction ends."""
    assert explained(ask("DescribeTransactions", claims={}, state=OPEN, producer_id=7, epoch=1)) is Explained.YES


def test_an_id_that_nobody_knows_is_not_found() -> None:
    unknown: Mapping[str, Any] = {"transactional_id": "nobody"}
    missing = refused("DescribeTransactions", KafkaError.TRANSACTIONAL_ID_NOT_FOUND, claims=unknown)
    assert explained(missing) is Explained.YES
    assert explained(ask("DescribeTransactions", claims=unknown, state=EMPTY, **OWN)) is Explained.NO
    created = refused("DescribeTransactions", KafkaError.TRANSACTIONAL_ID_NOT_FOUND, claims={})
    assert explained(created) is Explained.NO


def test_a_write_in_an_epoch_that_has_passed_must_be_refused() -> None:
    passed = row(4, "init", actor="b", epoch=2, tries=2)
    assert explained(passed, refused("Produce", EPOCH, number=5)) is Explained.YES
    assert explained(passed, ask("Produce", 5)) is Explained.NO


def test_what_an_ask_was_told_is_no_identity_of_a_client() -> None:
    ended = ask("EndTxn", producer_id=7, epoch=1)
    trace = ClientTrace.of("t", [row(1, "init"), row(2, "begin", tries=0), WRITE, ended])
    assert trace.handed_out == [(7, 0)]


def test_a_batch_that_is_too_large_or_of_no_transaction_is_refused_while_one_is_open() -> None:
    large = {**OWN, "sequence": 1, "too_large": True}
    assert explained(refused("Produce", KafkaError.MESSAGE_TOO_LARGE, claims=large)) is Explained.YES
    assert explained(ask("Produce", claims=large)) is Explained.NO
    beside = {**OWN, "sequence": 1, "transactional": False}
    assert explained(refused("Produce", KafkaError.INVALID_TXN_STATE, claims=beside)) is Explained.YES
    assert explained(ask("Produce", claims=beside)) is Explained.NO


def test_a_timeout_that_is_too_long_is_refused_to_whoever_asks_for_it() -> None:
    for identity in (OWN, {}):
        too_long = {**identity, "too_long": True}
        known = refused("InitProducerId", KafkaError.INVALID_TRANSACTION_TIMEOUT, claims=too_long)
        assert explained(known) is Explained.YES
        assert explained(ask("InitProducerId", claims=too_long, producer_id=7, epoch=1)) is Explained.NO


def test_a_partition_that_is_not_there_cannot_be_added() -> None:
    nowhere = {**OWN, "partition": 7, "missing": True}
    known = refused("AddPartitionsToTxn", KafkaError.UNKNOWN_TOPIC_OR_PARTITION, claims=nowhere)
    assert explained(known) is Explained.YES
    assert explained(ask("AddPartitionsToTxn", claims=nowhere)) is Explained.NO
    unknown = refused("AddPartitionsToTxn", KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    assert explained(unknown) is Explained.YES, "one of the topic's may not be known yet"


def test_a_broker_that_is_not_the_coordinator_describes_nothing() -> None:
    elsewhere: Mapping[str, Any] = {"elsewhere": True}
    other = refused("DescribeTransactions", KafkaError.NOT_COORDINATOR, claims=elsewhere)
    assert explained(other) is Explained.YES
    found = ask("DescribeTransactions", claims=elsewhere, state=OPEN, **OWN)
    assert explained(found) is Explained.NO
    missing = refused("DescribeTransactions", KafkaError.TRANSACTIONAL_ID_NOT_FOUND, claims=elsewhere)
    assert explained(missing) is Explained.NO
    assert explained(found, stale=stale((4.2, 9), "__transaction_state-4", state_partitions=7)) is Explained.YES
