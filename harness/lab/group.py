"""A consumer group whose offsets a transaction commits, and the partition of ``__consumer_offsets`` that keeps them."""

from dataclasses import dataclass

from harness.lab.partition import Partition

CONSUMER_OFFSETS = "__consumer_offsets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of no members. ``offsets`` is led by the group's coordinator; other groups write to it as well."""

    name: str
    offsets: Partition
