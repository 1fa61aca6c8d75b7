"""Failpoints are found, asked in rounds and told, each once, also over several sessions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from harness.base.paths import CONTRACT
from harness.cluster.nodes.failpoints import _compiled
from harness.evidence.run_folder import RunFolder
from harness.explore.cell_exploration import Exploration
from harness.explore.cell_results import CellOutcome, CellResult, Difference
from harness.explore.findings import Findings, FreshResult
from harness.model.events.model_event import TimeoutPasses, events_of
from harness.model.events.slow_cells import slow_cells
from harness.model.grid import grid_cells
from harness.model.protocol_profile import NEWEST
from suites.model.failpoints.broken_clusters import BrokenClusters
from suites.model.failpoints.failpoint_page import page, unused, without_reason
from suites.model.failpoints.failpoint_trials import FailpointTrials
from suites.model.failpoints.known_failpoints import KnownFailpoint, known_failpoints
from suites.model.failpoints.sampled_cells import Numbered, rounds_of_cells
from suites.model.failpoints.tried_failpoints import FailpointOutcome, TriedFailpoints, tried
from suites.model.failpoints.unseen_reasons import UnseenBecause, UnseenReason, read_unseen
from suites.model.test_model_by_itself import OFFERED

RULES = "RULE nothing is kept\nCLASS org.apache.kafka.Log\nMETHOD append(long)\nAT ENTRY\nIF true\nDO return\nENDRULE\n"
FAILPOINT = KnownFailpoint(rules=RULES, version="4.3.1", refutes=(("KIP98-X-01", "lost-record"),))
WRONG = Difference(part="answer", expected="NONE", seen="UNKNOWN_SERVER_ERROR")
LISTED = """\
# File fencepost-1 line 1
RULE one
Transformed in:
trigger method: Log.append(long) void
compiled successfully
RULE two
Transformed in:
trigger method: Log.close() void
OK
"""


@dataclass
class BrokenKafka:
    """Stands in for an exploration and its cluster: cells with one of these numbers differ while rules are loaded.

    :param lasting: Those that differ from then on.
    """

    path: Path
    differing: Sequence[int] = ()
    lasting: Sequence[int] = ()
    enters: bool = True
    lost_after: int | None = None
    rules: list[str] = field(default_factory=list)
    broken: bool = False
    asked: list[int] = field(default_factory=list)

    @property
    def cluster(self) -> "BrokenKafka":
        return self

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.path)

    def load_rules(self, rules: str) -> None:
        if "refused" in rules:
            raise RuntimeError("no such method")
        self.rules.append(rules)

    def entered_rules(self) -> frozenset[str]:
        return frozenset(["nothing is kept"] if self.enters else [])

    def unload_rules(self) -> None:
        self.rules.clear()

    def explore(self, cells: Sequence[Numbered], _profile: object, found: Findings) -> str | None:
        self.asked += [number for number, _ in cells]
        found.add(FreshResult(self._result(number)) for number, _ in cells)
        return "broker 2 is gone" if self.lost_after is not None and len(self.asked) > self.lost_after else None

    def _result(self, number: int) -> CellResult:
        self.broken |= bool(self.rules)
        differs = (bool(self.rules) and number in self.differing) or (self.broken and number in self.lasting)
        outcome = CellOutcome.DIFFERS if differs else CellOutcome.AGREES
        differences = (WRONG,) if differs else ()
        return CellResult(
            cell=number, state="Empty", request="EndTxn", outcome=outcome, steps=2, differences=differences
        )


def trials(kafka: BrokenKafka) -> FailpointTrials:
    """With two rounds of one cell each."""
    first, second = list(enumerate(grid_cells(NEWEST, OFFERED, limit=2), start=1))
    return FailpointTrials(
        exploration=cast(Exploration, kafka), profile=NEWEST, rounds=[[first], [second]], explanations=()
    )


def test_what_differs_is_caught_by_the_first_round_that_shows_it(tmp_path: Path) -> None:
    kafka = BrokenKafka(tmp_path, differing=[1, 2])
    line = trials(kafka).tried(FAILPOINT)
    assert (line.outcome, line.cells, line.differences) == (FailpointOutcome.CAUGHT, 1, (WRONG,))
    assert kafka.asked == [1, 1]


def test_what_differs_without_the_rules_as_well_is_not_theirs(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "both").mkdir()
    one = trials(BrokenKafka(tmp_path / "one", lasting=[1])).tried(FAILPOINT)
    assert (one.outcome, one.differing, one.differences) == (FailpointOutcome.LASTS, 1, (WRONG,))
    some = trials(BrokenKafka(tmp_path / "both", differing=[2], lasting=[1]))
    both = FailpointTrials(
        exploration=some.exploration, profile=NEWEST, rounds=[[*some.rounds[0], *some.rounds[1]]], explanations=()
    ).tried(FAILPOINT)
    assert (both.outcome, both.differing, both.cells) == (FailpointOutcome.CAUGHT, 1, 2)


def test_what_agrees_in_every_round_is_not_caught_and_told_whether_it_ran(tmp_path: Path) -> None:
    (tmp_path / "ran").mkdir()
    (tmp_path / "idle").mkdir()
    ran = trials(BrokenKafka(tmp_path / "ran")).tried(FAILPOINT)
    idle = trials(BrokenKafka(tmp_path / "idle", enters=False)).tried(FAILPOINT)
    assert (ran.outcome, ran.cells, ran.entered) == (FailpointOutcome.NOT_CAUGHT, 2, ("nothing is kept",))
    assert idle.outcome is FailpointOutcome.NOT_ENTERED


def test_brokers_that_stop_answering_and_rules_that_do_not_apply_are_told_so(tmp_path: Path) -> None:
    kafka = BrokenKafka(tmp_path, lost_after=0)
    assert trials(kafka).tried(FAILPOINT).outcome is FailpointOutcome.LOST
    refused = KnownFailpoint(rules="RULE refused\n", version="4.3.1", refutes=())
    line = trials(kafka).tried(refused)
    assert (line.outcome, line.why) == (FailpointOutcome.FAILED, "no such method")


@pytest.mark.parametrize(("differing", "sound"), [([], True), ([1], True)], ids=["all agree", "only under rules"])
def test_a_cluster_is_sound_while_no_rule_is_loaded(tmp_path: Path, differing: Sequence[int], sound: bool) -> None:
    assert trials(BrokenKafka(tmp_path, differing=differing)).sound() is sound


def test_a_cluster_whose_brokers_stop_answering_is_not_sound(tmp_path: Path) -> None:
    assert not trials(BrokenKafka(tmp_path, lost_after=0)).sound()


@dataclass(kw_only=True)
class StandIns(BrokenClusters):
    """Each cluster of these lines' trials serves until it is not sound any more."""

    each: list[FailpointTrials]

    def _opened(self, version: str) -> FailpointTrials:
        assert version == FAILPOINT.version
        return self.each.pop(0)


def test_what_lasts_is_tried_again_where_others_were_tried_before(tmp_path: Path) -> None:
    first, second, third = (BrokenKafka(tmp_path / name) for name in "abc")
    first.lasting = [1]
    for kafka in (first, second, third):
        kafka.path.mkdir()
    clusters = StandIns(folder=tmp_path, backend="process", each=[trials(each) for each in (first, second, third)])
    assert clusters.tried(FAILPOINT).outcome is FailpointOutcome.LASTS
    assert clusters.tried(FAILPOINT).outcome is FailpointOutcome.NOT_CAUGHT
    second.lasting = [2]
    assert clusters.tried(FAILPOINT).outcome is FailpointOutcome.NOT_CAUGHT
    assert not clusters.each


def test_what_was_tried_is_not_tried_again(tmp_path: Path) -> None:
    first = TriedFailpoints(tmp_path)
    assert [*first.left([FAILPOINT])] == [FAILPOINT]
    first.add(tried(FAILPOINT, FailpointOutcome.CAUGHT))
    again = TriedFailpoints(tmp_path)
    assert again.lines == first.lines
    assert not again.left([FAILPOINT])


def test_byteman_tells_which_rules_were_come_to() -> None:
    assert [*_compiled(LISTED)] == ["one"]


def test_the_contract_names_each_rule_text_once() -> None:
    known = known_failpoints(CONTRACT)
    assert len({each.key for each in known}) == len(known) > 200
    assert all(each.names and each.places for each in known)
    assert any(each.of_a_tool for each in known)


def test_the_rounds_have_every_request_and_every_state_and_no_cell_twice() -> None:
    rounds = rounds_of_cells(NEWEST, OFFERED)
    asked = [cell for cells in rounds for cell in cells]
    whole = [*grid_cells(NEWEST, OFFERED)]
    assert len({number for number, _ in asked}) == len(asked) < len(whole) / 5
    slow = [*slow_cells(NEWEST, OFFERED)]
    assert {events_of(cell.path) for _, cell in asked} == {(), *(events_of(cell.path) for cell in slow)}
    late = [{any(isinstance(one, TimeoutPasses) for one in cell.path) for _, cell in cells} for cells in rounds]
    assert late == [{False}, {False}, {False}, {True}, {False}]
    assert {cell.request for _, cell in asked} >= {cell.request for cell in whole}
    states = {cell.state.partition(" ")[0] for _, cell in asked}
    assert states >= {cell.state.partition(" ")[0] for cell in whole}
    assert {type(cell.asked) for _, cell in rounds[0]} == {type(cell.asked) for cell in whole}


def lines() -> Iterator[Any]:
    """One of each outcome."""
    yield from (tried(FAILPOINT, outcome) for outcome in FailpointOutcome)


def test_the_page_tells_shares_and_what_was_not_found() -> None:
    text = page([*lines()], 9, ())
    assert "7 of 9 failpoints were tried" in text
    assert "Of 6 that change an answer or a state of transactions, the grid finds 3." in text
    assert text.count("Log.append") == 6


def test_what_is_not_found_needs_a_reason_and_a_reason_something_that_is_not_found() -> None:
    reason = UnseenReason(because=UnseenBecause.NO_STATE, reason="a clock", place=r"^Log\.")
    other = UnseenReason(because=UnseenBecause.NO_STATE, reason="none", name="never")
    not_caught = [tried(FAILPOINT, FailpointOutcome.NOT_CAUGHT)]
    assert [*without_reason(not_caught, ())] == not_caught
    assert not without_reason(not_caught, [reason, other])
    assert [*unused(not_caught, [reason, other])] == [other]
    assert "Of 0 that change" in page(not_caught, 1, [reason])


def test_the_reasons_that_are_kept_can_be_read_and_each_fits_a_failpoint() -> None:
    known = [tried(each, FailpointOutcome.NOT_CAUGHT) for each in known_failpoints(CONTRACT)]
    assert all(any(reason.fits(line) for line in known) for reason in read_unseen())


def test_the_numbers_of_result_folders_are_of_one_cluster(tmp_path: Path) -> None:
    one = trials(BrokenKafka(tmp_path))
    one.asked = count(7)
    one.tried(FAILPOINT)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["7", "8"]
