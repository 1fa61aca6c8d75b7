"""A streaming query's progress as values. Pure: a recorded progress gives the same answer as a live one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """How far a query has come.

    :param end_offsets: For each ``topic-index``, the offset after the last one that was read.
    :param micro_batches: Micro-batches that ended so far.
    """

    end_offsets: Mapping[str, int] = field(default_factory=dict)
    micro_batches: int = 0


def parse_progress(text: str) -> StreamProgress:
    """The JSON of a ``StreamingQueryProgress`` with one Kafka source.

    ``latestOffset`` is not used: Spark's Kafka source asks for it with the query's isolation level, so under
    read_committed it is the last stable offset, and a query that is stuck below the high watermark has reached it.
    """
    progress = json.loads(text)
    (source,) = progress["sources"]
    ends, starts = _offsets(source["endOffset"]), _offsets(source["startOffset"])
    # An idle query repeats where it is, under the number of the batch that it waits to run.
    return StreamProgress(end_offsets=ends, micro_batches=progress["batchId"] + (ends != starts))


def one_sentence(failure: str) -> str:
    """The cause out of a query's exception, without its trace and Spark's description of the query.

    >>> one_sentence("[STREAM_FAILED] Query [id = 1] terminated with exception: no broker SQLSTATE: XXKST\\n===")
    'no broker'
    """
    first = next((line for line in failure.splitlines() if line.strip()), "no reason given")
    return first.partition("terminated with exception: ")[2].partition(" SQLSTATE:")[0].strip() or first.strip()


def _offsets(by_topic: Mapping[str, Mapping[str, int]] | None) -> Mapping[str, int]:
    topics = (by_topic or {}).items()
    return {f"{topic}-{index}": offset for topic, indexes in topics for index, offset in indexes.items()}
