"""What a query's progress says: recorded from Spark 4.0.0 over three topics of Kafka 4.3.1."""

import json

import pytest

from harness.evidence.stream_reach import Reach
from harness.spark.readers.committed_stream import accounted
from harness.spark.readers.stream_progress import StreamProgress, one_sentence, parse_progress


def recorded(batch: int, start: object, end: object, latest: object) -> str:
    """A progress as Spark writes it, without the fields that say nothing here."""
    source = {
        "description": "KafkaV2[Subscribe[t1, t2]]",
        "startOffset": start,
        "endOffset": end,
        "latestOffset": latest,
    }
    return json.dumps({"batchId": batch, "batchDuration": 497, "numInputRows": 3, "sources": [source]})


def test_end_offsets_by_topic_and_partition() -> None:
    ends = {"t1": {"0": 12, "1": 3}, "t2": {"0": 7}}
    progress = recorded(7, {"t1": {"0": 10, "1": 3}, "t2": {"0": 7}}, ends, ends)
    assert parse_progress(progress) == StreamProgress(end_offsets={"t1-0": 12, "t1-1": 3, "t2-0": 7}, micro_batches=8)


def test_an_idle_query_counts_no_batch_twice() -> None:
    ends = {"t1": {"0": 12}}
    assert parse_progress(recorded(8, ends, ends, ends)).micro_batches == 8


def test_the_first_batch_has_no_start() -> None:
    assert parse_progress(recorded(0, None, {"t1": {"0": 0}}, {"t1": {"0": 0}})).micro_batches == 1


def test_the_latest_offset_is_never_taken_for_the_end() -> None:
    progress = recorded(3, {"t1": {"0": 4}}, {"t1": {"0": 6}}, {"t1": {"0": 9}})
    assert parse_progress(progress).end_offsets == {"t1-0": 6}


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (
            "[STREAM_FAILED] Query [id = 5242c354, runId = 7dd313c6] terminated with exception: "
            "Partition t1-0's offset was changed from 12 to 3. SQLSTATE: XXKST\n=== Streaming Query ===\nCurrent …",
            "Partition t1-0's offset was changed from 12 to 3.",
        ),
        ("\nsomething else\nat line 3", "something else"),
        ("", "no reason given"),
    ],
)
def test_a_failure_in_one_sentence(failure: str, sentence: str) -> None:
    assert one_sentence(failure) == sentence


def test_the_account_keeps_offset_order_and_what_came_twice() -> None:
    reach = Reach(end_offset=6, wanted=8, reached_ms=None)
    account = accounted(reach, ((0, "a"), (4, "b"), (4, "b")), 3)
    assert account.delivered == ("a", "b", "b")
    assert (account.end_offset, account.wanted, account.reached_ms, account.micro_batches) == (6, 8, None, 3)
