"""The crowd of a scenario: many producers that write as applications do, beside the roles of its workload.

Roles wait for each answer and pause; the crowd brings the volume in which races come about. Each of its seats plays
one transactional id at a time, with habits that are drawn from the round's seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from harness.chaos.plan.record_to_write import RecordToWrite
from harness.wire.records.record_batch import Compression

LARGEST_RECORD = 16_384
"""``max.message.bytes`` of a round's topics: records near the limit need not be a megabyte, which the history keeps."""
SEGMENT_MS = 3_000
"""``segment.ms`` of a round's topics, so that transactions outlive segments (KIP-98 keeps an index for each)."""
SIZE_LIMIT: Mapping[str, str] = {"max.message.bytes": str(LARGEST_RECORD)}
TOPIC_CONFIGS: Mapping[str, str] = {**SIZE_LIMIT, "segment.ms": str(SEGMENT_MS)}
LARGEST_PAYLOAD = LARGEST_RECORD - 512
"""What is left of it beside the header of a batch and the beginning of a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How one seat writes.

    :param in_flight: ``max.in.flight.requests.per.connection``.
    :param batch_records: Records of a batch at most; ``records``: of a transaction at least and at most.
    :param long_share: Share of transactions that have ``long_records`` at most instead.
    :param partitions_a_request: Batches of one Produce at most.
    :param one_partition: Whether all records of a transaction go to one partition, as those of one key do.
    :param payload_bytes: Of a record at least and at most, where the workload gives no meaning to payloads.
    :param large_share: Share of transactions with one record near the topic's limit.
    :param open_seconds: For how long a transaction may stay open between its records, at most.
    :param ids_after: Transactions after which the seat goes on with a new transactional id; None for never.
    :param left_open: Share of transactions that nobody ends; their seat goes on with a new transactional id.
    :param started_anew: Share of transactions after which the seat begins again with the same id, as an application
        that is started anew: a third of them with what it has written left open (KIP-360).
    :param idle_seconds: For how long a producer that has its producer id may have nothing to write, at most, and an
        application be away before it is started anew; every other time it is not.
    """

    in_flight: int = 5
    batch_records: int = 16
    partitions_a_request: int = 16
    compression: Compression = "none"
    records: tuple[int, int] = (1, 4)
    long_records: int = 1_000
    long_share: float = 0.0
    one_partition: bool = False
    payload_bytes: tuple[int, int] = (0, 40)
    large_share: float = 0.0
    open_seconds: float = 0.0
    ids_after: int | None = None
    left_open: float = 0.0
    started_anew: float = 0.0
    idle_seconds: float = 0.0


HABITS: Mapping[str, tuple[int, Habits]] = {
    "plain": (8, Habits()),
    "of-one-key": (100, Habits(records=(1, 3), one_partition=True)),
    "one-by-one": (2, Habits(in_flight=1, batch_records=1, partitions_a_request=1)),
    "five-in-flight": (4, Habits(batch_records=1, records=(4, 12))),
    "batches": (3, Habits(batch_records=100, records=(1, 30), compression="gzip")),
    "long": (1, Habits(batch_records=50, records=(1, 10), long_share=0.02, payload_bytes=(0, 10))),
    "large": (1, Habits(large_share=0.02)),
    "short-lived-ids": (3, Habits(ids_after=8)),
    "an-id-each": (2, Habits(ids_after=1)),
    "open-for-long": (5, Habits(records=(2, 4), open_seconds=1.5)),
    "outlives-segments": (2, Habits(records=(2, 4), open_seconds=4.5)),
    "left-open": (1, Habits(left_open=0.01)),
    "started-anew": (6, Habits(started_anew=0.3, idle_seconds=0.5)),
}
"""By name: how many of a seat's draws find it, of the sum of all, and the habits."""
TOGETHER = "together"
ANEW_WHILE_OPEN = 1 / 3
"""Of applications that are started anew, those that left a transaction open."""
ANEW_UNUSED = 1 / 3
"""Of applications with such a habit, those that are started anew before they write anything."""
GATHERED = Habits(records=(1, 2))
"""Of seats whose transactions wait until all of them are open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """How many there are, and how much they write.

    :param seats: Transactional ids at the same time, of which as many have a transaction under way as brokers answer
        in time (:mod:`harness.chaos.play.concurrency_limit`).
    :param per_second: Transactions that all together begin in a second, at most.
    :param together_a_connection: Of those that wait for each other, so many share their connections: a broker serves
        one request of a connection at a time, so that whoever is not to wait for others has its own.
    :param request_ms: What a seat gives one operation, retries included.
    :param together: How many seats more there may be for each, whose transactions are open at once; one is drawn.
    :param before: Transactions that must have been committed in the seconds before a fault, and ``during``:
        writes and commits that must be under way while it is on, or else the fault has shown nothing.
    """

    seats: int = 480
    per_second: float = 480.0
    together_a_connection: int = 8
    together: tuple[float, ...] = (0, 0, 0, 0.3, 0.6)
    request_ms: int = 3_000
    timeout_ms: int = 6_000
    before: int = 20
    during: int = 20


class CrowdedWorkload(Protocol):
    """A workload in which a crowd has something to write."""

    def crowd_transaction(self, draw: Random, records: int) -> tuple[Sequence[RecordToWrite], bool]:
        """About so many records, and whether they are to be committed."""


def drawn_habits(draw: Random) -> tuple[str, Habits]:
    """The habits of one seat, with their name."""
    names = list(HABITS)
    (name,) = draw.choices(names, weights=[HABITS[each][0] for each in names])
    return name, HABITS[name][1]
