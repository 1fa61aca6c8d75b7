"""What a client was asked, said and sent: told in order of time, requests with the call during which they were sent."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.contract import Level, Verdict
from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client
from harness.contract.expect import Finding
from harness.evidence.client_evidence import Delivery, LibraryError
from harness.evidence.requirement_evidence import Evidence, Fault
from harness.evidence.status import Status
from harness.report.clients.call_words import ITEMS_SHOWN, call_words
from harness.report.clients.client_story import BetweenView, CallView, Chapter, FaultNote, names_in, story
from harness.report.clients.frame_lines import FRAMES_SHOWN, errors_of, frame_lines
from harness.report.clients.spoken_versions import speaks
from harness.report.matrix.matrix import JudgedRun, matrix
from harness.report.matrix.matrix_text import as_text
from harness.report.shared.run_metadata import run_metadata
from suites.selfcheck.fixtures import client_folder
from suites.selfcheck.fixtures.page_reader import PageReader

OPENING = (frame("ApiVersions", 4), frame("Metadata", 13), frame("ApiVersions", 4))
SEEN = of_client(
    call("init", frames=(*OPENING, frame("InitProducerId", 5, epoch=0))),
    call("produce", "x", name="Produce 90: produce", outcome="refused", says="fatal", code=90,
         frames=(frame("Produce", 12, batch("x", sequence=3), error=90, by_gate=True),)),
    call("commit", name="Produce 90: commit", outcome="refused", code=90),
    call("commit", name="Produce 53: commit", frames=(frame("EndTxn", 5, error=None),)),
)  # fmt: skip
QUOTED = Finding(anomaly="lost", detail="produce of app (Produce 90: produce) was refused")


def chapters(evidence: Evidence, *findings: Finding) -> tuple[Chapter, ...]:
    told = story("KIP1-A-01", evidence, findings)
    assert told is not None
    return told.chapters


def test_there_is_no_story_where_no_client_was_judged() -> None:
    assert story("KIP1-A-01", Evidence(), ()) is None


def test_calls_that_begin_alike_are_a_chapter_and_the_one_that_shows_a_finding_is_open() -> None:
    told = chapters(SEEN, QUOTED)
    assert [chapter.title for chapter in told] == ["Around them", "Produce 90", "Produce 53"]
    assert [chapter.open for chapter in told] == [False, True, False]
    assert told[1].aside == "2 calls, 2 not done, shows lost"


def test_a_finding_leads_to_the_calls_that_its_detail_quotes() -> None:
    names = [each.name for each in SEEN.calls]
    assert names_in(QUOTED, names) == ("Produce 90: produce",)
    assert names_in(Finding(anomaly="lost", detail="(not a call)", steps=("init",)), names) == ("init",)


def test_a_request_stands_with_the_call_during_which_it_was_sent() -> None:
    (init, *_), (produce, *_), (commit,) = (
        [i for i in each.items if isinstance(i, CallView)] for each in chapters(SEEN)
    )
    assert [line.call for line in init.frames] == ["ApiVersions v4 ×2, Metadata v13", "InitProducerId v5"]
    assert [line.quiet for line in init.frames] == [True, False]
    (struck,) = produce.frames
    assert (struck.by, struck.code, struck.outcome) == ("gate", 90, "PRODUCER_FENCED")
    assert struck.fields == (("P1", "producer 7 epoch 0, sequence 3"),)
    assert [(line.outcome, line.by) for line in commit.frames] == [("no answer", "")]


def test_what_is_sent_between_calls_and_faults_have_rows_of_their_own() -> None:
    stray = frame("Heartbeat", 4)
    seen = of_client(Told(call("poll").call, (stray, stray, stray)), call("close"))
    moved = tuple(replace(each, client_id="other") for each in seen.frames)
    fault = Fault(name="broker 1", kind="kill", where="node 1", started=0.5, ended=9.0)
    (only,) = chapters(Evidence(calls=seen.calls, frames=moved, faults=(fault,)))
    kinds = [type(item) for item in only.items]
    assert (kinds[0], BetweenView in kinds, only.title, only.open) == (FaultNote, True, "", True)
    between = next(item for item in only.items if isinstance(item, BetweenView))
    assert [(line.call, line.times) for line in between.frames] == [("Heartbeat v4", 3)]


def test_an_error_is_told_with_what_it_wraps_and_results_are_cut() -> None:
    cause = LibraryError(type="Inner", code=47)
    error = LibraryError(type="Outer", message="no", classification="abortable", causes=(cause,))
    told = call("produce", *map(str, range(20)), outcome="refused").call
    own = Delivery(topic="P1", partition=1, value="v", outcome="refused", error=cause)
    words = call_words(replace(told, error=error, deliveries=(own,) * 20))
    assert [(each.type, each.code, each.classification) for each in words.errors] == [
        ("Outer", "", "abortable"),
        ("Inner", "INVALID_PRODUCER_EPOCH (47)", ""),
    ]
    assert words.results[0] == "record 'v' to P1: refused, Inner INVALID_PRODUCER_EPOCH (47)"
    assert (len(words.results), words.results[-1]) == (ITEMS_SHOWN + 1, "and 12 more results")


def test_many_requests_of_one_call_are_cut_and_counted() -> None:
    frames = of_client(call("commit", frames=tuple(frame("EndTxn", 5, epoch=n) for n in range(100)))).frames
    lines = frame_lines(frames, 0.0)
    assert (len(lines), lines[-1].call) == (FRAMES_SHOWN + 1, "and 40 more requests")


def test_errors_of_an_answer_are_told_by_name() -> None:
    assert errors_of(()) == "NONE"
    assert errors_of((0, 0)) == "NONE"
    assert errors_of((0, 6, 6)) == "NONE ×1, NOT_LEADER_OR_FOLLOWER ×2"


def test_versions_spoken_are_those_of_requests_and_of_facts_in_whatever_form() -> None:
    noted = of_client(spoken={"Produce": [3, 9], "EndTxn": 3, "Fetch": "v4"}, protocol=1)
    assert speaks([SEEN, noted]).apis["Produce"] == (3, 12)
    assert speaks([noted]).apis == {"EndTxn": (3, 3), "Produce": (3, 9)}
    assert (speaks([SEEN]).protocol, speaks([noted]).protocol, speaks([]).protocol) == (2, 1, None)
    assert speaks([of_client(spoken="nothing", protocol="V2")]).apis == {}


def run_of(client: str, status: Status) -> JudgedRun:
    """A run on a client with one verdict."""
    found = (Finding(anomaly="lost", detail="one"),) if status is Status.VIOLATED else ()
    verdict = Verdict(id=client_folder.ID, level=Level.MUST, status=status, findings=found)
    return JudgedRun(about=run_metadata({"client": client}), verdicts=[verdict], link=f"{client}/index.html")


@pytest.mark.parametrize(("second", "changed", "steps"), [("sarama:1.43.3", True, 1), ("franz-go:1.22.2", False, 0)])
def test_only_versions_of_one_library_are_compared_as_neighbours(second: str, changed: bool, steps: int) -> None:
    shown = matrix(client_folder.ROWS, [run_of("sarama:1.61.1", Status.VIOLATED), run_of(second, Status.HOLDS)])
    (line,) = shown.rows
    assert ([cell.changed for cell in line.cells], line.differs) == ([False, changed], True)
    assert (len(shown.steps), "Bold" in as_text(shown)) == (steps, bool(steps))
    assert line.cells[0].link == f"sarama:1.61.1/index.html#{client_folder.ID}"
    assert [(name, cell.why) for name, _, cell in shown.broken] == [("sarama:1.61.1", "one")]


def test_the_page_of_a_client_names_it_and_stays_whole_whatever_its_library_says(tmp_path: Path) -> None:
    client_folder.make(tmp_path)
    text = (tmp_path / "broken-1.0" / "index.html").read_text(encoding="utf-8")
    assert "broken:1.0 breaks the one promise that was judged" in " ".join(PageReader(text).first_heading.split())
    assert [tag for tag, _ in PageReader(text).elements].count("script") == 1
    assert "<dt>Served by</dt>" in text
    assert "caused by" in text
    assert f'id="{client_folder.ID}--call-1"' in text
