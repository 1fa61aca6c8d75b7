"""What a streaming reader did with one partition, as it stands in the evidence: the fact ``reader``, by alias."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.evidence.json_codec import from_plain, to_plain
from harness.evidence.requirement_evidence import Evidence, NotSeen

FACT = "reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamAccount:
    """How far a reader came, and what it delivered.

    :param end_offset: The offset after the last one that it read.
    :param wanted: The high watermark that the observer had read, and that was waited for.
    :param reached_ms: Milliseconds of waiting until the end offset was there; None when it was not in time.
    :param micro_batches: Micro-batches that ended, over all partitions.
    :param delivered: Values in offset order; what came twice is there twice.
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
    """The reader's account of a partition.

    :raises NotSeen: When there is none, or the reader ran no micro-batch: it has examined nothing.
    """
    fact = seen.fact(FACT)
    if not isinstance(fact, dict) or partition not in fact:
        raise NotSeen(f"the reader gave no account of {partition}")
    account = from_plain(StreamAccount, fact[partition])
    if not account.micro_batches:
        raise NotSeen("the reader ran no micro-batch")
    return account
