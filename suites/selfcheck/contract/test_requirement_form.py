"""The form of a requirement and the judge: what each verdict needs, and what is refused at birth."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.paths import ROOT
from harness.contract import (
    Level,
    Observation,
    Offers,
    Profile,
    Refusal,
    Release,
    Requirement,
    Source,
    Status,
    Unrefuted,
    Witness,
    accepted,
    habit,
    judge,
    kept,
    passes,
    refused,
    struck,
)
from harness.contract.catalogue.promises import Promises
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, requirement_row
from harness.contract.doctored import abort, commit, data, described, evidence, held_link, log, step, written
from harness.contract.expect import agree, keeps, unless, writes
from harness.contract.refuters import describe
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab
from harness.report.contract.listing import listing

GOOD = evidence(step("ask", "EndTxn", 5, error=0))


def nothing(_lab: Lab) -> None:
    """A stimulus that does nothing."""


def ask_succeeds(seen: Evidence) -> Iterator[Observation]:
    """One expectation."""
    yield accepted(seen["ask"], otherwise="ask-refused")


REQUIREMENT = Requirement(
    id="KIP890-TEST-01",
    level=Level.MUST,
    source=Source(890, "Motivation"),
    statement="An ask succeeds.",
    needs=(Offers("EndTxn", 5),),
    stimulus=nothing,
    check=ask_succeeds,
    accepts=(GOOD,),
    refuses=(Refusal("ask-refused", GOOD.with_step("ask", error=48)),),
    refuted_by=(Release(version="3.5.2", anomaly="ask-refused"),),
)


def test_a_witness_without_a_finding_holds() -> None:
    verdict = judge(REQUIREMENT, GOOD)
    assert (verdict.status, verdict.witnesses, verdict.findings) == (Status.HOLDS, 1, ())


def test_a_finding_is_a_violation_and_names_its_step() -> None:
    verdict = judge(REQUIREMENT, GOOD.with_step("ask", error=48))
    assert verdict.status == Status.VIOLATED
    assert [(found.anomaly, found.steps) for found in verdict.findings] == [("ask-refused", ("ask",))]


def test_a_missing_step_is_not_exercised() -> None:
    verdict = judge(REQUIREMENT, GOOD.without_step("ask"))
    assert verdict.status == Status.NOT_EXERCISED
    assert "ask" in str(verdict.reason)


def test_a_check_that_yields_nothing_is_not_exercised_never_green() -> None:
    silent = replace(REQUIREMENT, check=lambda _seen: iter(()))
    assert judge(silent, GOOD).status == Status.NOT_EXERCISED


def test_a_stimulus_that_could_not_be_carried_through_is_not_exercised_with_its_reason() -> None:
    verdict = judge(REQUIREMENT, replace(GOOD, unprepared="no proxy"))
    assert (verdict.status, verdict.reason) == (Status.NOT_EXERCISED, "no proxy")


def test_a_check_that_crashes_is_undecided_with_its_trace() -> None:
    def crash(seen: Evidence) -> Iterator[Observation]:
        yield accepted(seen["ask"], otherwise="ask-refused")
        raise ZeroDivisionError

    verdict = judge(replace(REQUIREMENT, check=crash), GOOD)
    assert verdict.status == Status.UNDECIDED
    assert "ZeroDivisionError" in str(verdict.reason)


def test_a_finding_before_a_missing_step_is_still_a_violation() -> None:
    def check(seen: Evidence) -> Iterator[Observation]:
        yield accepted(seen["ask"], otherwise="ask-refused")
        yield accepted(seen["gone"], otherwise="gone")

    assert judge(replace(REQUIREMENT, check=check), GOOD.with_step("ask", error=48)).status == Status.VIOLATED


@pytest.mark.parametrize("field", ["statement", "needs", "accepts", "refuses", "refuted_by"])
def test_a_requirement_without_its_proof_cannot_be_made(field: str) -> None:
    empty = "" if field == "statement" else ()
    with pytest.raises(ValueError, match=field):
        replace(REQUIREMENT, **{field: empty})  # type: ignore[arg-type]


def test_a_refuter_is_told_in_one_phrase_and_the_lack_of_one_with_its_reason() -> None:
    assert describe(Release(version="3.5.2", anomaly="ask-refused")) == "kafka:3.5.2 → ask-refused"
    assert describe(Unrefuted(anomaly="ask-refused", reason="nobody may")) == "none → ask-refused: nobody may"


def test_the_list_counts_what_is_refuted_live_apart_from_what_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    none = Unrefuted(anomaly="ask-lost", reason="nobody may")
    one = replace(REQUIREMENT, refuted_by=(*REQUIREMENT.refuted_by, none))
    row = requirement_row(CatalogueEntry(one, Path(__file__)), root=ROOT)
    listing([row], Promises(of_brokers=(one.id,), of_clients=(), not_asked={}))
    assert "1 accepts, 1 refuses, 1 live, 1 not live" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("level", "status", "known", "green"),
    [
        ("MUST", Status.HOLDS, None, True),
        ("MUST", Status.NOT_OFFERED, None, True),
        ("MUST", Status.VIOLATED, None, False),
        ("MUST", Status.UNDECIDED, None, False),
        ("MUST", Status.NOT_EXERCISED, None, False),
        ("MUST", Status.VIOLATED, "KAFKA-1", True),
        ("MUST", Status.HOLDS, "KAFKA-1", False),
        ("MUST", Status.OUT_OF_REACH, None, True),
        ("MUST", Status.OUT_OF_REACH, "KAFKA-1", True),
        ("MUST", Status.NOT_OFFERED, "KAFKA-1", False),
        ("MUST", Status.NOT_EXERCISED, "KAFKA-1", False),
        ("SHOULD", Status.NOT_EXERCISED, "KAFKA-1", True),
        ("SHOULD", Status.VIOLATED, None, True),
        ("MAY", Status.NOT_EXERCISED, None, True),
    ],
)
def test_what_lets_the_exit_code_be_0(level: str, status: Status, known: str | None, green: bool) -> None:
    verdict = replace(judge(REQUIREMENT, GOOD), level=level, status=status, known_failure=known)
    assert kept(verdict, Profile.KIP) is green


def habit_then(rest: Callable[[Evidence], Iterator[Observation]]) -> Requirement[Lab]:
    """A requirement whose check finds only a habit of Kafka's broken, and goes on with ``rest``."""

    def check(seen: Evidence) -> Iterator[Observation]:
        yield habit(accepted(seen["ask"], otherwise="ask-refused"))
        yield from rest(seen)

    return replace(REQUIREMENT, check=check)


@pytest.mark.parametrize(
    ("unprepared", "out_of_reach", "rest", "green"),
    [
        (None, False, None, True),
        ("no topic", False, Status.NOT_EXERCISED, False),
        ("no proxy", True, Status.OUT_OF_REACH, True),
    ],
)
def test_a_broken_habit_does_not_cover_a_promise_that_was_not_examined(
    unprepared: str | None, out_of_reach: bool, rest: Status | None, green: bool
) -> None:
    seen = replace(GOOD.with_step("ask", error=48), unprepared=unprepared, out_of_reach=out_of_reach)
    verdict = judge(habit_then(lambda _seen: iter(())), seen)
    assert (verdict.status, verdict.level, verdict.rest) == (Status.VIOLATED, Level.SHOULD, rest)
    assert kept(verdict, Profile.KIP) is green
    assert not kept(verdict, Profile.KAFKA)


def test_nor_one_whose_check_ended_early() -> None:
    def crash(_seen: Evidence) -> Iterator[Observation]:
        yield Witness(what="asked")
        raise ZeroDivisionError

    bad = GOOD.with_step("ask", error=48)
    assert judge(habit_then(crash), bad).rest == Status.UNDECIDED
    missing = habit_then(lambda seen: iter([accepted(seen["gone"], otherwise="gone")]))
    assert not kept(judge(missing, bad), Profile.KIP)


def test_a_finding_is_no_more_binding_than_its_requirement() -> None:
    verdict = judge(replace(REQUIREMENT, level=Level.MAY), replace(GOOD.with_step("ask", error=48), unprepared="cut"))
    assert ([found.level for found in verdict.findings], verdict.level) == ([Level.MAY], Level.MAY)
    assert verdict.rest is None
    assert kept(verdict, Profile.KIP)


def test_a_run_in_which_nothing_was_seen_does_not_pass() -> None:
    held = judge(REQUIREMENT, GOOD)
    unseen = [replace(held, status=status) for status in (Status.OUT_OF_REACH, Status.NOT_OFFERED)]
    assert passes([held, *unseen], Profile.KIP)
    assert not passes(unseen, Profile.KIP)
    assert not passes([replace(held, level=Level.SHOULD, status=Status.NOT_EXERCISED)], Profile.KIP)
    assert not passes([], Profile.KIP)


@pytest.mark.parametrize("level", Level)
def test_of_kafka_itself_all_levels_are_asked(level: Level) -> None:
    verdict = replace(judge(REQUIREMENT, GOOD), level=level)
    assert kept(verdict, Profile.KAFKA)
    assert not kept(replace(verdict, status=Status.VIOLATED), Profile.KAFKA)


def test_refused_distinguishes_success_no_answer_and_the_wrong_code() -> None:
    asked = step("ask", "Produce", 9, error=48, error_message="…not added")
    names = [
        getattr(refused(replace(asked, **change), 48, otherwise="let-in"), "anomaly", None)
        for change in ({}, {"error": 0}, {"error": None}, {"error": 47})
    ]
    assert names == [None, "let-in", "unanswered", "wrong-error"]
    assert getattr(refused(asked, 48, otherwise="let-in", message="other"), "anomaly", None) == "wrong-message"


@pytest.mark.parametrize(("error", "level"), [(48, Level.SHOULD), (47, Level.MUST)])
def test_a_code_that_the_kip_allows_as_well_is_only_not_kafkas(error: int, level: Level) -> None:
    found = refused(step("ask", "Produce", 11, error=error), 120, otherwise="let-in", also=(48,))
    assert (getattr(found, "anomaly", None), getattr(found, "level", None)) == ("wrong-error", level)


@pytest.mark.parametrize(
    ("said", "found"), [(None, ("no-message", Level.MUST)), ("other", ("wrong-message", Level.SHOULD))]
)
def test_that_there_is_a_message_binds_more_than_its_words(said: str | None, found: tuple[str, Level]) -> None:
    seen = refused(step("ask", "Produce", 9, error=48, error_message=said), 48, otherwise="let-in", message="words")
    assert (getattr(seen, "anomaly", None), getattr(seen, "level", None)) == found


def test_kept_partitions_are_compared_in_any_order() -> None:
    look = described("kept", "Ongoing", partitions=("P2", "P1"))
    assert getattr(keeps(look, partitions=("P1", "P2"), otherwise="lost"), "anomaly", None) is None
    assert getattr(keeps(look, partitions=("P1",), otherwise="lost"), "anomaly", None) == "lost"


def test_writes_to_a_partition_are_those_to_it_alone() -> None:
    seen = evidence(written("write", 9, "a"), written("write", 9, "b", to="P2"), written("other", 9, "c", to="P2"))
    assert [one.written() for one in writes(seen, "P2", "write")] == [("b",)]


def test_agree_and_unless_name_the_anomaly_they_were_given() -> None:
    assert getattr(agree("epoch", 1, 2, otherwise="wrong-epoch"), "anomaly", None) == "wrong-epoch"
    assert getattr(unless(False, "it held", otherwise="fell"), "anomaly", None) == "fell"


@pytest.mark.parametrize(
    "late",
    [
        step("late", "Produce", 9, held=0.0, sent=0.0, answered=100.0),
        step("late", "Produce", 9, held=5.0, sent=0.0, answered=20.0),
        step("late", "Produce", 9, held=5.0, sent=60.0, answered=100.0),
    ],
    ids=["never held", "answered while held", "sent after the release"],
)
def test_a_hold_that_did_not_strike_is_not_exercised(late: object) -> None:
    def check(seen: Evidence) -> Iterator[Observation]:
        struck(seen, seen["late"], by="hold")
        yield accepted(seen["late"], otherwise="refused")

    seen = evidence(late, faults=(held_link("hold"),))  # type: ignore[arg-type]
    assert judge(replace(REQUIREMENT, check=check), seen).status == Status.NOT_EXERCISED


def test_a_doctored_log_has_the_offsets_and_the_committed_view_of_a_sound_broker() -> None:
    truth = log(data(1, 0, "a", "b"), data(2, 0, "x"), commit(1, 0), abort(2, 0), data(3, 0, "open"))
    assert [batch.base_offset for batch in truth.batches] == [0, 2, 3, 4, 5]
    assert (truth.high_watermark, truth.last_stable_offset, truth.committed) == (6, 5, ("a", "b"))
