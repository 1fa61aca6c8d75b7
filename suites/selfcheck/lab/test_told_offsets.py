"""Offsets in evidence count from where a requirement began, so that checks read a given partition as a fresh one."""

from collections.abc import Mapping

from harness.contract.doctored import commit, data, log, producer_row
from harness.evidence.requirement_evidence import LogTruth, Sample, Step
from harness.lab.told_offsets import told_log, told_sample, told_step

STARTS = {"theirs-1": 40, "theirs-2": 50}


def step(api: str, request: Mapping[str, object], **fields: object) -> Step:
    """An answer as it came."""
    return Step(name="s", api=api, version=1, error=0, fields=fields, request=request)  # type: ignore[arg-type]


def test_produce_tells_each_partition_by_its_own_start() -> None:
    answers = {"theirs-2": {"error": 0, "base_offset": 53}, "theirs-1": {"error": 0, "base_offset": 41}}
    told = told_step(step("Produce", {}, base_offset=53, partitions=answers), STARTS)
    assert told.fields == {
        "base_offset": 3,
        "partitions": {"theirs-2": {"error": 0, "base_offset": 3}, "theirs-1": {"error": 0, "base_offset": 1}},
    }


def test_a_refused_write_has_no_offset_still() -> None:
    answers = {"theirs-1": {"error": 48, "base_offset": -1}}
    told = told_step(step("Produce", {}, base_offset=-1, partitions=answers), STARTS)
    assert told.fields == {"base_offset": -1, "partitions": answers}


def test_list_offsets_and_describe_producers_go_by_the_partition_that_was_asked_about() -> None:
    asked = {"partition": "theirs-1"}
    assert told_step(step("ListOffsets", asked, offset=44), STARTS).fields == {"offset": 4}
    rows = [producer_row(7, since=42), producer_row(8, since=-1)]
    told = told_step(step("DescribeProducers", asked, producers=rows), STARTS)
    assert told.fields == {"producers": [producer_row(7, since=2), producer_row(8, since=-1)]}


def test_producers_that_were_there_before_are_left_out() -> None:
    rows = [producer_row(3, since=-1), producer_row(7, since=42)]
    asked = step("DescribeProducers", {"partition": "theirs-1"}, producers=rows)
    assert told_step(asked, STARTS, {"theirs-1": {3}}).fields == {"producers": [producer_row(7, since=2)]}
    assert len(told_step(asked, STARTS, {"theirs-2": {3}}).fields["producers"]) == 2  # type: ignore[arg-type]


def test_several_partitions_producers_are_told_each_by_its_own_start() -> None:
    parts = {name: {"error": 0, "producers": [producer_row(7, since=52)]} for name in STARTS}
    told = told_step(step("DescribeProducers", {}, partitions=parts), STARTS, {"theirs-2": {7}}).fields["partitions"]
    assert told == {
        "theirs-1": {"error": 0, "producers": [producer_row(7, since=12)]},
        "theirs-2": {"error": 0, "producers": []},
    }


def test_nothing_changes_on_fresh_partitions_and_in_other_answers() -> None:
    fresh = step("ListOffsets", {"partition": "ours-1"}, offset=44)
    assert told_step(fresh, STARTS) == told_step(fresh, {"ours-1": 0}) == fresh
    end = step("EndTxn", {"partition": "theirs-1"}, offset=44)
    assert told_step(end, STARTS) == end


def test_samples_and_logs_are_those_of_a_fresh_partition() -> None:
    fresh = log(data(7, 0, "a"), commit(7, 0))
    before = log(*(data(3, 0, "x") for _ in range(39)), commit(3, 0), data(7, 0, "a"), commit(7, 0))
    told = told_log(before, 40)
    assert (told.batches, told.high_watermark, told.last_stable_offset) == (
        fresh.batches,
        fresh.high_watermark,
        fresh.last_stable_offset,
    )
    assert told_log(fresh, 0) == fresh
    sample = Sample(at=1.0, partition="P1", high_watermark=44, last_stable_offset=41)
    assert told_sample(sample, 40) == Sample(at=1.0, partition="P1", high_watermark=4, last_stable_offset=1)
    assert told_log(LogTruth(batches=(), high_watermark=40, last_stable_offset=40), 40).high_watermark == 0
