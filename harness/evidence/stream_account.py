"""What a streaming reader read of each partition: the fact ``reader`` of the evidence, by the partition's alias."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.evidence.json_codec import from_plain, to_plain
from harness.evidence.requirement_evidence import Evidence, NotSeen

FACT = "reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamAccount:
    """How far a reader came on one partition, and what it delivered.

    :param end_offset: The offset after the last one that it read.
    :param wanted: The offset that was waited for: the high watermark as the observer had read it.
    :param reached_ms: How long it took until ``end_offset`` reached ``wanted``; None when it did not in time.
    :param micro_batches: Micro-batches that ended, over all partitions.
    :param delivered: Values in offset order; a value that was delivered twice is there twice.
    """

    end_offset: int
    wanted: int
    reached_ms: float | None
    micro_batches: int
    delivered: tuple[str, ...] = ()


def as_fact(accounts: Mapping[str, StreamAccount]) -> Json:
    """The accounts by partition, as a fact of the evidence."""
    return to_plain(accounts)


def stream_account(seen: Evidence, partition: str) -> StreamAccount:
    """What the reader did with a partition.

    :raises NotSeen: When the evidence lacks it, or the reader ran no micro-batch: it has examined nothing.
    """
    fact = seen.fact(FACT)
    if not isinstance(fact, dict) or partition not in fact:
        raise NotSeen(f"the reader gave no account of {partition}")
    account = from_plain(StreamAccount, fact[partition])
    if not account.micro_batches:
        raise NotSeen("the reader ran no micro-batch")
    return account
