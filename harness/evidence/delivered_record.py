"""One record as a read_committed consumer delivers it to its application."""

from typing import NamedTuple


class DeliveredRecord(NamedTuple):
    """Where the record stands in the log, and its value as text."""

    topic: str
    partition: int
    offset: int
    value: str
