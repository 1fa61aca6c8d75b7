"""Adopted evidence is small, stable, and still what the check accepts; only what HOLDS is adopted."""

from dataclasses import replace

import pytest

from harness.base.user_error import UserError
from harness.contract import (
    Evidence,
    Observations,
    Offers,
    Refusal,
    Release,
    Requirement,
    Source,
    Status,
    expect,
    judge,
)
from harness.contract.adoption import adopt, document
from harness.contract.doctored import commit, data, described, ended, evidence, held_link, log, refused_write, step
from harness.evidence.json_codec import from_json
from harness.lab import Lab

RAW = evidence(
    replace(ended("end", epoch=3, producer_id=4012), sent=812.5, answered=815.25, exchange=31, tries=2),
    replace(refused_write("late", 12, 47, held=73.5), sent=810.5, answered=901.0, exchange=30),
    step("not looked at", "Produce", 12, sent=900.0),
    described("kept after 4012", "CompleteCommit", epoch=4, producer_id=4012),
    logs={"P1": log(data(4012, 3, "a"), commit(4012, 4)), "P2": log()},
    faults=(held_link("lane", started=809.0, ended=899.0),),
    seconds=3,
)


def check(seen: Evidence) -> Observations:
    """Reads a step, a field of it, a hold and a log."""
    end = seen["end"]
    own = end.request_int("producer_id")
    expect.struck(seen, seen["late"], by="lane", after=end)
    yield expect.accepted(end, otherwise="end-refused")
    yield expect.keeps(seen[f"kept after {own}"], producer_id=own, epoch=4)
    yield from expect.sound(seen, "P1", ("a",))


REQUIREMENT: Requirement[Lab] = Requirement(
    id="KIP890-TEST-02",
    source=Source(890, "Motivation"),
    statement="An end is accepted.",
    needs=(Offers("EndTxn", 5),),
    stimulus=lambda _lab: None,
    check=check,
    accepts=(RAW,),
    refuses=(Refusal("end-refused", RAW.with_step("end", error=48)),),
    refuted_by=(Release(version="3.5.2", anomaly="end-refused"),),
)


@pytest.fixture(name="small")
def _small() -> Evidence:
    return adopt(REQUIREMENT, RAW)


def test_what_the_verdict_does_not_need_is_left_out(small: Evidence) -> None:
    assert [one.name for one in small.steps] == ["end", "late", "kept after 7"]
    assert (list(small.logs), dict(small.facts)) == (["P1"], {})
    assert dict(small["kept after 7"].fields) == {"producer_id": 7, "producer_epoch": 4}
    assert dict(small["end"].fields) == {}


def test_ids_are_small_and_times_are_ranks_in_the_same_order(small: Evidence) -> None:
    assert {batch.producer_id for batch in small.log().batches} == {7}
    late, end, lane = small["late"], small["end"], small.fault("lane")
    assert lane.started < late.sent < end.sent < (end.answered or 0) < lane.ended < (late.answered or 0)
    assert all(moment % 10 == 0 for moment in (late.sent, end.sent, lane.ended))


def test_it_is_judged_as_before_and_adopting_it_again_changes_nothing(small: Evidence) -> None:
    assert judge(REQUIREMENT, small).witnesses == judge(REQUIREMENT, RAW).witnesses
    assert document(adopt(REQUIREMENT, small)) == document(small)


def test_the_document_is_read_back_as_the_same_evidence(small: Evidence) -> None:
    assert from_json(Evidence, document(small)) == small


def test_only_what_holds_can_be_adopted() -> None:
    with pytest.raises(UserError, match=Status.VIOLATED):
        adopt(REQUIREMENT, RAW.with_step("end", error=48))
