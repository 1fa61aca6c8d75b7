"""Kafka's error codes: our table says what kio's says."""

from kio.schema.errors import ErrorCode

from harness.base.kafka_error import KafkaError


def test_codes_names_and_what_may_be_retried_are_those_of_kio() -> None:
    ours = {error.value: (error.name, error.retriable) for error in KafkaError}
    assert ours == {int(code): (code.name.upper(), code.retriable) for code in ErrorCode}
