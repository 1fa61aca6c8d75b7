"""What a library calls an error is unsure, except where no number of tries can have had an effect."""

import pytest

from harness.base.kafka_error import KafkaError
from harness.clients.stdio.adapter_answer import AdapterAnswer
from harness.clients.stdio.stdio_outcomes import PROVEN, result_of, result_of_failure
from harness.evidence.client_evidence import Classification, Delivery, LibraryError, ReadRecord
from harness.evidence.history.operation import Outcome, Verb

WRITING: tuple[Verb, ...] = ("init", "produce", "send_offsets", "commit", "abort")
FREE: tuple[Verb, ...] = ("begin", "subscribe", "poll")


def said(code: int | None, type_: str = "SomeError", classification: Classification | None = None) -> AdapterAnswer:
    error = LibraryError(type=type_, message="why", code=code, classification=classification)
    return AdapterAnswer(id=1, outcome="refused", error=error)


@pytest.mark.parametrize("verb", WRITING)
@pytest.mark.parametrize("classification", [None, "fatal", "fenced", "abortable", "retriable"])
def test_an_error_without_a_code_is_unsure_whatever_its_class(
    verb: Verb, classification: Classification | None
) -> None:
    result = result_of(verb, said(None, classification=classification))
    assert (result.outcome, result.error) == (Outcome.UNSURE, None)
    assert result.reason.endswith("(SomeError: why)")


@pytest.mark.parametrize("verb", WRITING)
@pytest.mark.parametrize(
    "code", [KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED, KafkaError.TRANSACTION_ABORTABLE]
)
def test_fencing_may_answer_the_second_try_of_what_the_first_has_done(verb: Verb, code: KafkaError) -> None:
    result = result_of(verb, said(code))
    assert (result.outcome, result.error) == (Outcome.UNSURE, code)


@pytest.mark.parametrize(("verb", "code"), [(verb, code) for verb, rows in PROVEN.items() for code in rows])
def test_what_is_proven_is_refused_for_that_verb_alone(verb: Verb, code: int) -> None:
    assert result_of(verb, said(code)).outcome is Outcome.REFUSED
    others = [other for other in WRITING if other != verb and code not in PROVEN.get(other, {})]
    assert {result_of(other, said(code)).outcome for other in others} == {Outcome.UNSURE}


def test_what_the_library_does_not_know_is_unsure_also_with_a_code_that_proves() -> None:
    error = LibraryError(type="TimedOut", code=KafkaError.INVALID_TXN_STATE)
    assert result_of("commit", AdapterAnswer(id=1, outcome="unsure", error=error)).outcome is Outcome.UNSURE


@pytest.mark.parametrize("verb", WRITING)
def test_an_unsupported_call_sent_nothing(verb: Verb) -> None:
    result = result_of(verb, said(None, "unsupported"))
    assert (result.outcome, result.tries) == (Outcome.REFUSED, 0)


@pytest.mark.parametrize("verb", FREE)
def test_what_writes_nothing_is_never_unsure(verb: Verb) -> None:
    error = LibraryError(type="TimedOut")
    assert result_of(verb, AdapterAnswer(id=1, outcome="unsure", error=error)).outcome is Outcome.REFUSED
    assert result_of_failure(verb, "it crashed").outcome is Outcome.REFUSED


@pytest.mark.parametrize("verb", WRITING)
def test_without_an_answer_nothing_is_known(verb: Verb) -> None:
    result = result_of_failure(verb, "it crashed")
    assert (result.outcome, result.error) == (Outcome.UNSURE, None)
    assert "it crashed" in result.reason


def test_the_offset_is_that_of_the_records_own_delivery() -> None:
    late = Delivery(topic="t", partition=0, value="1/0/2/", outcome="done", offset=4)
    own = Delivery(topic="t", partition=0, value="1/1/2/", outcome="done", offset=5)
    answer = AdapterAnswer(id=1, outcome="done", deliveries=[late, own])
    assert result_of("produce", answer, "1/1/2/").offset == 5
    assert result_of("produce", answer, "1/2/2/").offset is None


def test_what_was_read_is_delivered_in_its_order() -> None:
    records = [ReadRecord(topic="t", partition=1, offset=at, value=str(at)) for at in (7, 3)]
    result = result_of("poll", AdapterAnswer(id=1, outcome="done", records=records))
    assert [record.offset for record in result.records] == [7, 3]
    assert (result.producer_id, result.epoch) == (None, None)
