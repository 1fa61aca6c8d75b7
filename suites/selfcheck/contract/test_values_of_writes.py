"""What ``expect.values`` takes for written: accepted writes of the names asked for, in order of sending."""

from harness.base.kafka_error import KafkaError
from harness.contract import expect
from harness.contract.doctored import evidence, refused_write, written

SEEN = evidence(
    written("first", 12, "a"),
    written("second", 12, "b", to="P2"),
    refused_write("first", 12, KafkaError.INVALID_TXN_STATE, "c"),
    written("other", 12, "d"),
    written("first", 12, "e", "f"),
)


def test_accepted_writes_of_the_names_count() -> None:
    assert expect.values(SEEN, "first", "second") == ("a", "b", "e", "f")


def test_of_one_partition_alone() -> None:
    assert expect.values(SEEN, "first", "second", at="P2") == ("b",)


def test_no_such_write_is_no_value() -> None:
    assert expect.values(SEEN, "never") == ()
