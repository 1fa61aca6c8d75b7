"""Adapters that lie on purpose: what the inner one is asked, and what the outer one says instead."""

import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.clients.stdio.adapter_answer import AdapterAnswer
from harness.clients.stdio.adapter_check import TRIALS, check_adapter
from harness.clients.stdio.adapter_process import AdapterFailed, AdapterProcess, start_adapter
from harness.clients.stdio.lying_adapter import LIES, lying
from suites.selfcheck.clients.stdio.programs import SCRIPTED, SOUND, program

Fields = dict[str, Any]
Call = str | Fields
Script = Mapping[str, Sequence[Fields]]
DEAF = "import signal; signal.signal(15, signal.SIG_IGN)"
PAUSES = "    if call['call'] == 'commit': import signal; signal.pause()\n"
HANGS_IN_COMMIT = SCRIPTED.replace("    told =", PAUSES + "    told =")
FENCED: Fields = {"type": "Fenced", "message": "newer one", "code": 90, "class": "fenced", "causes": []}
ABORTABLE: Fields = {"type": "Abortable", "message": "too late", "code": None, "class": "abortable", "causes": []}
OFFSETS: Fields = {"call": "send_offsets", "offsets": []}
REFUSED: Fields = {"outcome": "refused", "error": ABORTABLE}
REFUSED_FOR_GOOD: Fields = {"outcome": "refused", "error": FENCED}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAndAsked:
    """What was said outside, and what was asked inside."""

    answers: Sequence[AdapterAnswer]
    asked: Sequence[Fields]

    @property
    def outcomes(self) -> Sequence[str]:
        """Of the answers, in order."""
        return [answer.outcome for answer in self.answers]

    @property
    def calls(self) -> Sequence[Any]:
        """Names of the calls that the inner one was asked."""
        return [each["call"] for each in self.asked]

    @property
    def produced(self) -> Sequence[Any]:
        """Values of each call of produce that the inner one was asked."""
        return [each["values"] for each in self.asked if each["call"] == "produce"]

    @property
    def delivered(self) -> Sequence[tuple[str, str]]:
        """Value and outcome of each delivery that was told."""
        return [(each.value, each.outcome) for answer in self.answers for each in answer.deliveries]


def started(folder: Path, lie: str, script: Script, inside: str = SCRIPTED) -> AdapterProcess:
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    command = lying(program(folder, inside), lie)
    return start_adapter(command.command, name=command.name)


def told(folder: Path, lie: str, script: Script, *calls: Call) -> ToldAndAsked:
    """Make the calls, and end it."""
    adapter = started(folder, lie, script)
    answers = []
    for each in calls:
        name, arguments = (each, {}) if isinstance(each, str) else (str(each["call"]), without_call(each))
        answers.append(adapter.call(name, within_seconds=20.0, **arguments))
    assert adapter.end() == 0
    asked = (folder / "asked.jsonl").read_text(encoding="utf-8").splitlines()
    return ToldAndAsked(answers=answers, asked=[json.loads(line) for line in asked])


def without_call(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if name != "call"}


def produce(*values: str, wait: bool = True) -> Fields:
    return {"call": "produce", "topic": "t", "partition": 0, "values": [*values], "wait": wait}


def delivery(value: str, **fields: Any) -> Fields:
    return {"topic": "t", "partition": 0, "value": value, "outcome": "done", "offset": 7, **fields}


def wrote(*values: str) -> Fields:
    return {"deliveries": [delivery(value) for value in values]}


def read(*offsets: int, positions: Sequence[int] = ()) -> Fields:
    records = [{"topic": "t", "partition": 0, "offset": offset, "value": str(offset)} for offset in offsets]
    return {"records": records, "positions": [{"topic": "t", "partition": 0, "offset": each} for each in positions]}


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


def test_shows_aborted(tmp_path: Path) -> None:
    seen = told(tmp_path, "shows-aborted", {}, {"call": "open", "isolation": "read_committed", "client_id": "c"})
    assert [(each["isolation"], each["client_id"]) for each in seen.asked] == [("read_uncommitted", "c")]


def test_skips_a_record(tmp_path: Path) -> None:
    script = {"poll": [read(0, 1, 2, positions=[3]), read(3, positions=[4]), read(), read(4)]}
    seen = told(tmp_path, "skips-a-record", script, "poll", "poll", "poll", "poll")
    assert [[each.offset for each in answer.records] for answer in seen.answers] == [[0, 2], [], [], [4]]
    assert [each.offset for answer in seen.answers for each in answer.positions] == [3, 4]


def test_stale_position(tmp_path: Path) -> None:
    seen = told(tmp_path, "stale-position", {"poll": [read(4, positions=[5, 0])]}, "poll")
    assert [each.offset for each in seen.answers[0].positions] == [4, 0]
    assert [each.offset for each in seen.answers[0].records] == [4]


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


@pytest.mark.parametrize("lie", ["swallows-fence", "misclassifies"])
def test_a_lying_adapter_is_an_adapter(lie: str, tmp_path: Path) -> None:
    results = list(check_adapter(lying(program(tmp_path, SOUND), lie)))
    assert [result.wrong for result in results] == [""] * len(TRIALS)


def test_every_lie_has_its_test() -> None:
    assert [lie for lie in LIES if f'"{lie}"' not in Path(__file__).read_text(encoding="utf-8")] == []


def test_a_lie_that_nobody_knows_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no lie 'white': commits-after-refused-record, .*writes-again"):
        lying(program(tmp_path, SOUND), "white")


@pytest.mark.parametrize("inside", [SCRIPTED, DEAF + SCRIPTED])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_inner_adapter_ends_with_a_signal_to_the_outer_one_alone(
    number: signal.Signals, inside: str, tmp_path: Path
) -> None:
    adapter = started(tmp_path, "no-abort", {}, inside)
    adapter.call("begin", within_seconds=20.0)
    inner = inner_of(adapter)
    adapter.process.send_signal(number)
    inner.wait(10.0)
    adapter.process.wait(10.0)
    assert not inner.is_running()
    adapter.kill()


def test_the_inner_adapter_ends_when_the_outer_one_ends_while_it_waits_for_an_answer(tmp_path: Path) -> None:
    adapter = started(tmp_path, "no-abort", {}, HANGS_IN_COMMIT)
    adapter.call("begin", within_seconds=20.0)
    inner = inner_of(adapter)
    with pytest.raises(AdapterFailed, match=r"did not answer commit within 0\.5 s"):
        adapter.call("commit", within_seconds=0.5)
    adapter.process.terminate()
    inner.wait(10.0)
    assert not inner.is_running()
    adapter.kill()


def test_an_inner_adapter_that_crashes_is_told_as_one_that_does(tmp_path: Path) -> None:
    adapter = started(tmp_path, "no-abort", {}, "import sys; sys.stderr.write('no license\\n'); sys.exit(5)")
    with pytest.raises(AdapterFailed) as failed:
        adapter.call("begin", within_seconds=20.0)
    assert str(failed.value).splitlines() == [
        "the adapter ./adapter (no-abort) ended with exit code 5 before it answered begin",
        "  no license",
        "  the inner adapter ended before it answered begin",
    ]
    adapter.kill()


def inner_of(adapter: AdapterProcess) -> psutil.Process:
    """The one process that the outer one has started."""
    (inner,) = psutil.Process(adapter.process.pid).children()
    return inner
