"""Situations on a session's page and in report.json: visited ones with their rounds, all others told plainly."""

from pathlib import Path

from harness.chaos.plan.round_folders import rounds_below
from harness.evidence.json_codec import to_json
from harness.evidence.situations.earlier_situations import (
    VISITED,
    EarlierSituations,
    earlier_situations,
    keep_earlier,
    keep_visited,
    read_visited,
)
from harness.evidence.situations.kept_situations import FOUND, NamedVisit, RoundSituations, Visit
from harness.evidence.situations.situation import NAMED, Situation, pairs
from harness.report.chaos import publish_round, publish_session
from harness.report.chaos.visited.session_situations import situation_table
from suites.selfcheck.fixtures import chaos_folders
from suites.selfcheck.report.test_chaos_pages import report_in

ENDING = Situation(state="Ongoing", request="EndTxn", fault="kill")
MOVED = NamedVisit(name="coordinator-moved-prepared", fault="kill", times=3)
FIRST = RoundSituations(faults={"kill": ()}, groups=False, visits=(Visit(situation=ENDING, times=2),), named=(MOVED,))
SECOND = RoundSituations(faults={"kill": (), "pause": ()}, groups=True, visits=(Visit(situation=ENDING, times=1),))


def test_a_cell_counts_rounds_and_tells_apart_what_was_not_visited_from_what_is_not_asked_for() -> None:
    table = situation_table([FIRST, SECOND])
    assert table is not None
    assert table.faults == ("kill", "pause")
    cells = {(row.state, row.request): row.cells for row in table.rows}
    assert cells["Ongoing", "EndTxn"] == ("2", "–")
    assert cells["Ongoing", "TxnOffsetCommit"] == ("–", "–")
    assert len(cells) == len(list(pairs(groups=True)))
    assert table.sentence.startswith(f"1 of {2 * len(cells)} situations")
    alone = situation_table([FIRST])
    assert alone is not None
    assert ("Ongoing", "TxnOffsetCommit") not in {(row.state, row.request) for row in alone.rows}


def test_what_was_not_visited_is_told_by_state_and_request() -> None:
    table = situation_table([FIRST, SECOND])
    assert table is not None
    assert "Ongoing, EndTxn: pause" in table.left
    assert "Ongoing, Produce: kill, pause" in table.left
    named = {row.name: row.faults for row in table.named}
    assert named.keys() == NAMED.keys()
    assert (named["coordinator-moved-prepared"], named["marker-in-flight"]) == ("kill 1", "")


def test_a_situation_that_the_table_does_not_have_is_shown_all_the_same() -> None:
    odd = Visit(situation=Situation(state="Dead", request="InitProducerId", fault="kill"), times=1)
    table = situation_table([RoundSituations(faults={"kill": ()}, groups=False, visits=(odd,))])
    assert table is not None
    assert [row.cells for row in table.rows if row.state == "Dead"] == [("1",)]
    assert table.sentence.startswith("0 of ")


def test_page_and_report_of_a_session_have_them(tmp_path: Path) -> None:
    rounds = [chaos_folders.clean(tmp_path / "001"), chaos_folders.clean(tmp_path / "002")]
    (rounds[0] / FOUND).write_text(to_json(FIRST), encoding="utf-8")
    for folder in rounds:
        publish_round(folder)
    page = publish_session(tmp_path, rounds).read_text(encoding="utf-8")
    found = report_in(tmp_path)["situations"]
    assert found["visited"] == [{"state": "Ongoing", "request": "EndTxn", "fault": "kill", "rounds": 1}]
    assert len(found["not_visited"]) == found["wanted"] - 1
    assert found["named"]["coordinator-moved-prepared"] == {"kill": 1}
    assert [report_in(folder)["situations"] is None for folder in rounds] == [False, True]
    assert "coordinator-moved-prepared" in page
    assert "Ongoing, nothing: kill" in page


def test_a_session_that_went_on_from_another_counts_both(tmp_path: Path) -> None:
    earlier, later = tmp_path / "earlier", tmp_path / "later"
    for session, found in ((earlier, FIRST), (later, SECOND)):
        (chaos_folders.clean(session / "001") / FOUND).write_text(to_json(found), encoding="utf-8")
        publish_round(session / "001")
    keep_earlier(later, earlier_situations(rounds_below(earlier)))
    page = publish_session(later, [later / "001"]).read_text(encoding="utf-8")
    situations = report_in(later)["situations"]
    assert situations["together"] == {"rounds_before": 1, "wanted": situations["wanted"], "visited": 1}
    assert f"Together with 1 round of earlier sessions: 1 of {situations['wanted']}." in page
    alone = publish_session(earlier, [earlier / "001"]).read_text(encoding="utf-8")
    assert "earlier sessions" not in alone
    assert report_in(earlier)["situations"]["together"] is None


def test_one_file_of_a_session_tells_what_it_and_those_before_it_visited(tmp_path: Path) -> None:
    """The next session needs nothing else of them."""
    session = tmp_path / "session"
    (chaos_folders.clean(session / "001") / FOUND).write_text(to_json(SECOND), encoding="utf-8")
    pause = Situation(state="Ongoing", request="Produce", fault="pause")
    before = EarlierSituations(rounds=3, wanted=(ENDING, pause), visited=(pause,))
    keep_visited(session, before, [session / "001"])
    told = read_visited(session / VISITED)
    assert told == EarlierSituations(rounds=4, wanted=tuple(sorted(SECOND.wanted)), visited=(ENDING, pause))
    keep_visited(session, None, [session / "001"])
    assert read_visited(session / VISITED) == earlier_situations([session / "001"])
    assert read_visited(tmp_path / VISITED) is None


def test_what_both_visited_counts_once_and_is_not_left() -> None:
    pause = Situation(state="Ongoing", request="EndTxn", fault="pause")
    before = EarlierSituations(rounds=3, wanted=(ENDING, pause), visited=(ENDING, pause))
    table = situation_table([SECOND], before)
    assert table is not None
    assert table.sentence.endswith(f"earlier sessions: 2 of {2 * len(list(pairs(groups=True)))}.")
    assert not any(line.startswith("Ongoing, EndTxn") for line in table.left)


def test_a_session_of_other_tools_has_no_table(tmp_path: Path) -> None:
    assert situation_table([]) is None
    folder = chaos_folders.clean(tmp_path / "001")
    assert 'id="situations"' not in publish_session(tmp_path, [folder]).read_text(encoding="utf-8")


def test_a_round_without_states_says_why() -> None:
    table = situation_table([RoundSituations(faults={"latency": ()}, groups=False, lacking="the clocks are not ours")])
    assert table is not None
    assert table.lacking == ("the clocks are not ours",)
