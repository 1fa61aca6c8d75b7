"""Lies of adapters about what is written: what the library is asked, and what is said instead."""

from pathlib import Path

import pytest

from suites.selfcheck.clients.stdio.programs import SCRIPTED
from suites.selfcheck.clients.stdio.scripted_liar import (
    ABORTABLE,
    FENCED,
    REFUSED,
    REFUSED_FOR_GOOD,
    Call,
    Fields,
    ToldAndAsked,
    asked_in,
    delivery,
    lying_about,
    produce,
    told,
    wrote,
)

SLOW_COMMIT = "    while call['call'] == 'commit' and not (here / 'go').exists(): __import__('time').sleep(0.01)\n"


def test_swallows_fence(tmp_path: Path) -> None:
    failed: Fields = {**REFUSED_FOR_GOOD, "deliveries": [delivery("b", **REFUSED_FOR_GOOD)]}
    script = {"produce": [wrote("a"), failed], "abort": [REFUSED]}
    seen = told(tmp_path, "swallows-fence", script, "abort", produce("a"), produce("b"), produce("c"), "commit", "poll")
    assert seen.outcomes == ["refused", "done", "done", "done", "done", "done"]
    assert seen.delivered == [("a", "done"), ("b", "done"), ("c", "done")]
    assert seen.calls == ["abort", "produce", "produce", "poll"]


def test_a_record_that_was_not_even_taken_is_told_as_written(tmp_path: Path) -> None:
    seen = told(tmp_path, "swallows-fence", {"produce": [REFUSED_FOR_GOOD]}, produce("a", "b"))
    assert (seen.outcomes, seen.delivered) == (["done"], [("a", "done"), ("b", "done")])


def test_commits_after_refused_record(tmp_path: Path) -> None:
    failed: Fields = {**REFUSED, "deliveries": [delivery("b", **REFUSED), delivery("c")]}
    script = {"produce": [{}, failed, wrote("a"), wrote("c")], "abort": [{"deliveries": [delivery("a", **REFUSED)]}]}
    calls: list[Call] = [
        "begin",
        produce("a", wait=False),
        produce("b", "c"),
        {"call": "send_offsets", "offsets": []},
        "commit",
    ]
    seen = told(tmp_path, "commits-after-refused-record", script, *calls)
    assert seen.outcomes == ["done", "done", "refused", "done", "done"]
    assert seen.delivered == [("b", "refused"), ("c", "done"), ("a", "done")]
    again = ["abort", "begin", "produce", "produce", "send_offsets", "commit"]
    assert seen.calls == ["begin", "produce", "produce", "send_offsets", *again]
    assert seen.produced == [["a"], ["b", "c"], ["a"], ["c"]]


def test_commits_after_a_record_that_only_the_commit_reports_as_refused(tmp_path: Path) -> None:
    script = {"commit": [{**REFUSED, "deliveries": [delivery("a", **REFUSED)]}]}
    calls: list[Call] = ["begin", produce("a", wait=False), "commit", "begin", "commit"]
    seen = told(tmp_path, "commits-after-refused-record", script, *calls)
    assert seen.outcomes == ["done"] * 5
    assert seen.calls == ["begin", "produce", "commit", "abort", "begin", "commit", "begin", "commit"]


def test_writes_again(tmp_path: Path) -> None:
    script = {"produce": [wrote("a"), wrote("a"), {}, {}, REFUSED], "flush": [wrote("b", "b")]}
    calls: list[Call] = [produce("a"), produce("b", wait=False), "flush", produce("c")]
    seen = told(tmp_path, "writes-again", script, *calls)
    assert seen.outcomes == ["done", "done", "done", "refused"]
    assert seen.delivered == [("a", "done"), ("b", "done")]
    assert seen.produced == [["a"], ["a"], ["b"], ["b"], ["c"]]


def test_loses_records(tmp_path: Path) -> None:
    seen = told(tmp_path, "loses-records", {"produce": [wrote(each) for each in "ace"]}, *map(produce, "abcdef"))
    assert seen.delivered == [(each, "done") for each in "abcdef"]
    assert seen.produced == [["a"], ["c"], ["e"]]


def test_says_done_early(tmp_path: Path) -> None:
    script = {"commit": [{**REFUSED, "deliveries": [delivery("a", **REFUSED)]}]}
    calls: list[Call] = ["begin", produce("a", wait=False), "commit", "begin", "commit"]
    seen = told(tmp_path, "says-done-early", script, *calls)
    assert seen.outcomes == ["done"] * 5
    assert seen.delivered == [("a", "refused")]
    assert seen.calls == ["begin", "produce", "commit", "begin"]


def test_never_comes_back(tmp_path: Path) -> None:
    unsupported: Fields = {"outcome": "refused", "error": {"type": "unsupported", "message": "no"}}
    script = {"flush": [unsupported], "commit": [REFUSED]}
    seen = told(tmp_path, "never-comes-back", script, "flush", "begin", "commit", "abort", "begin", "close")
    assert seen.outcomes == ["refused", "done", "refused", "refused", "refused", "done"]
    said = [answer.error.classification for answer in seen.answers if answer.error is not None]
    assert said == [None, "abortable", "fatal", "fatal"]
    assert seen.calls == ["flush", "begin", "commit", "close"]


def test_goes_on_after_fatal(tmp_path: Path) -> None:
    failed: Fields = {**REFUSED_FOR_GOOD, "deliveries": [delivery("a", **REFUSED_FOR_GOOD), delivery("0")]}
    script = {"produce": [REFUSED, failed, wrote("a")], "commit": [REFUSED_FOR_GOOD]}
    calls: list[Call] = [
        {"call": "open", "client_id": "c"},
        "init",
        "begin",
        produce("0"),
        produce("a"),
        "commit",
    ]
    seen = told(tmp_path, "goes-on-after-fatal", script, *calls)
    assert seen.outcomes == ["done", "done", "done", "refused", "done", "refused"]
    assert seen.delivered == [("0", "done"), ("a", "done")]
    again = ["close", "open", "init", "begin", "produce"]
    assert seen.calls == ["open", "init", "begin", "produce", "produce", *again, "commit"]
    assert [each["client_id"] for each in seen.asked if each["call"] == "open"] == ["c", "c"]


@pytest.mark.parametrize(
    ("classified", "told_as"),
    [("abortable", "fatal"), ("fatal", "abortable"), ("fenced", "abortable"), ("retriable", "fatal"), (None, None)],
)
def test_misclassifies(classified: str | None, told_as: str | None, tmp_path: Path) -> None:
    refused: Fields = {"outcome": "refused", "error": {**ABORTABLE, "class": classified}}
    script = {"commit": [{**refused, "deliveries": [delivery("a", **refused)]}]}
    answer = told(tmp_path, "misclassifies", script, "commit").answers[0]
    errors = [answer.error, *(each.error for each in answer.deliveries)]
    assert [error and error.classification for error in errors] == [told_as, told_as]


@pytest.mark.parametrize(("refusals", "asked", "outcome"), [(0, 1, "done"), (2, 3, "done"), (9, 4, "refused")])
def test_retries_refused(refusals: int, asked: int, outcome: str, tmp_path: Path) -> None:
    told_once = [{**REFUSED, "deliveries": [delivery("a", **REFUSED)]}, *[REFUSED] * 8]
    seen = told(tmp_path, "retries-refused", {"commit": told_once[:refusals]}, "commit")
    assert (seen.calls, seen.outcomes) == (["commit"] * asked, [outcome])
    assert len(seen.delivered) == min(refusals, 1)


@pytest.mark.parametrize(("lie", "call"), [("forgets-offsets", "send_offsets"), ("no-abort", "abort")])
def test_what_is_never_handed_on(lie: str, call: str, tmp_path: Path) -> None:
    seen = told(tmp_path, lie, {}, "begin", call, "begin", "commit", "begin", "commit")
    assert seen.outcomes == ["done"] * 6
    assert call not in seen.calls
    assert seen.calls.count("begin") == (2 if lie == "no-abort" else 3)


def test_does_not_wait(tmp_path: Path) -> None:
    slow = SCRIPTED.replace("    told =", f"{SLOW_COMMIT}    told =")
    script = {"commit": [{**REFUSED, **wrote("a")}]}
    with lying_about(tmp_path, "does-not-wait", script, slow) as adapter:
        answers = [adapter.call(name, within_seconds=20.0) for name in ("begin", "commit")]
        (tmp_path / "go").touch()
        answers.append(adapter.call("abort", within_seconds=20.0))
        assert adapter.end() == 0
    seen = ToldAndAsked(answers=answers, asked=asked_in(tmp_path))
    assert seen.outcomes == ["done", "done", "done"]
    assert [len(answer.deliveries) for answer in seen.answers] == [0, 0, 1]
    assert seen.calls == ["begin", "commit", "abort"]


def test_aborts_instead(tmp_path: Path) -> None:
    script = {"flush": [wrote("a")], "produce": [{}, REFUSED]}
    calls: list[Call] = [
        "begin",
        produce("a", wait=False),
        "commit",
        "begin",
        produce("b"),
        "commit",
        "begin",
        "commit",
    ]
    seen = told(tmp_path, "aborts-instead", script, *calls)
    assert (seen.outcomes.count("refused"), seen.delivered) == (1, [("a", "done")])
    assert seen.calls == [
        "begin",
        "produce",
        "flush",
        "abort",
        "begin",
        "produce",
        "flush",
        "commit",
        "begin",
        "flush",
        "abort",
    ]


def test_refuses_ends(tmp_path: Path) -> None:
    seen = told(tmp_path, "refuses-ends", {"commit": [wrote("a")]}, "begin", "commit", "begin", "abort")
    assert (seen.outcomes, seen.delivered) == (["done", "refused"] * 2, [("a", "done")])
    assert seen.calls == ["begin", "commit", "begin", "abort"]


def test_ends_after_three(tmp_path: Path) -> None:
    seen = told(tmp_path, "ends-after-three", {"commit": [REFUSED]}, *["commit"] * 5, "close")
    assert seen.outcomes == ["refused", "done", "done", "done", "refused", "done"]
    assert seen.calls == ["commit"] * 4 + ["close"]


def test_leaves_open(tmp_path: Path) -> None:
    opening: Fields = {"call": "open", "transactional_id": "t", "client_id": "c"}
    seen = told(tmp_path, "leaves-open", {}, opening, "begin", produce("a", wait=False), produce("b"), "commit")
    assert seen.outcomes == ["done"] * 5
    assert [each["transactional_id"] for each in seen.asked if each["call"] == "open"] == ["t", "t-other"]
    assert seen.calls == ["open", "begin", "open", "init", "begin", "produce", "produce", "produce", "commit"]


def test_a_producer_without_transactions_leaves_none_open(tmp_path: Path) -> None:
    seen = told(tmp_path, "leaves-open", {}, {"call": "open", "transactional_id": None}, produce("a"))
    assert seen.calls == ["open", "produce"]


@pytest.mark.parametrize(
    ("lie", "type_", "code"), [("misnames", "InvalidTxnStateException", 48), ("drops-causes", "Fenced", 90)]
)
def test_errors_with_another_name_or_without_causes(lie: str, type_: str, code: int, tmp_path: Path) -> None:
    refused: Fields = {
        "outcome": "refused",
        "error": {**FENCED, "causes": [{"type": "Cause", "message": "", "code": None}]},
    }
    error = told(tmp_path, lie, {"commit": [refused]}, "commit").answers[0].error
    assert error is not None
    assert (error.type, error.code, error.classification, [*error.causes]) == (type_, code, "fenced", [])


def test_drops_results(tmp_path: Path) -> None:
    script = {"produce": [{}, wrote("b")], "flush": [wrote("a")]}
    seen = told(tmp_path, "drops-results", script, produce("a", wait=False), "flush", produce("b"))
    assert seen.delivered == [("b", "done")]


def test_tells_records_done(tmp_path: Path) -> None:
    failed: Fields = {**REFUSED, "deliveries": [delivery("b", **REFUSED)]}
    script = {"produce": [{}, failed, REFUSED], "commit": [{**REFUSED, "deliveries": [delivery("a", **REFUSED)]}]}
    seen = told(tmp_path, "tells-records-done", script, produce("a", wait=False), produce("b"), produce("c"), "commit")
    assert seen.outcomes == ["done", "done", "done", "refused"]
    assert seen.delivered == [("b", "done"), ("c", "done"), ("a", "done")]


def test_swaps_records(tmp_path: Path) -> None:
    script = {"produce": [{}, {}, wrote("c")], "flush": [wrote("b", "a")]}
    calls: list[Call] = [*(produce(each, wait=False) for each in "abc"), "flush", produce("d")]
    seen = told(tmp_path, "swaps-records", script, *calls)
    assert seen.produced == [["b"], ["a"], ["c"], ["d"]]
    assert seen.calls == ["produce"] * 3 + ["flush", "produce"]
    assert seen.delivered == [("c", "done"), ("b", "done"), ("a", "done")]


def test_begins_anew(tmp_path: Path) -> None:
    opening: Fields = {"call": "open", "client_id": "c"}
    seen = told(tmp_path, "begins-anew", {}, opening, "begin", produce("a"), "commit", "begin", *map(produce, "bc"))
    assert seen.outcomes == ["done"] * 7
    again = ["close", "open", "init", "begin", "produce", "produce"]
    assert seen.calls == ["open", "begin", "produce", "commit", "begin", "produce", *again]
    assert seen.produced == [["a"], ["b"], ["b"], ["c"]]
