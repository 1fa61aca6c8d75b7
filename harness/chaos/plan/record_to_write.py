"""What a workload or a crowd gives to a client to write."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordToWrite:
    """One record to write; the topic by the workload's name for it."""

    topic: str
    partition: int
    payload: str = ""
