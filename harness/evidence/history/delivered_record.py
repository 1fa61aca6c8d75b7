"""One record as a read_committed consumer delivers it to its application."""

from typing import NamedTuple


class DeliveredRecord(NamedTuple):
    """Topic, partition and offset of a record, and its value as text."""

    topic: str
    partition: int
    offset: int
    value: str
