"""Failpoints before chaos: rules spare what comes first, sessions end with the first red round, all is told once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from harness.base.paths import CONTRACT, SCENARIOS
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.evidence.history.judgement import CheckResult, Judgement
from suites.chaos.failpoints import broken_sessions
from suites.chaos.failpoints.broken_sessions import BrokenSessions
from suites.chaos.failpoints.chaos_trials import ChaosOutcome, ChaosTrials, unplayed
from suites.chaos.failpoints.found_page import found_page, unused
from suites.chaos.failpoints.missed_reasons import MissedBecause, MissedReason, read_missed
from suites.chaos.failpoints.own_failpoints import chaos_failpoints
from suites.chaos.failpoints.sparing_rules import EFFECT, sparing
from suites.model.failpoints.known_failpoints import KnownFailpoint, known_failpoints

RULES = (
    "RULE nothing is kept\nCLASS org.apache.kafka.Log\nMETHOD append(long)\nAT ENTRY\nIF $1 > 3\nDO return\nENDRULE\n"
)
FAILPOINT = KnownFailpoint(rules=RULES, version="4.3.1", refutes=(("KIP98-X-01", "lost-record"),))
SOUND: Mapping[str, int] = {}


@dataclass
class PlayedKafka:
    """Stands for environment and cluster: each round comes to what is next in ``rounds``; an error is raised."""

    rounds: list[Mapping[str, int] | Exception]
    enters: bool = True
    refuses: bool = False
    takes_effect: bool = True
    loaded: list[str] = field(default_factory=list)
    wanted: Any = None
    opened: Any = None
    folder: Path = Path()

    def open(self) -> "PlayedKafka":
        if self.refuses:
            raise RuntimeError("no such class")
        if not self.loaded:
            self.opened(self)
        return self

    def load_rules(self, rules: str) -> None:
        self.loaded.append(rules)

    def logs(self) -> Mapping[str, Path]:
        told = f"{EFFECT}{FAILPOINT.key} nothing is kept\n" if self.enters and self.takes_effect else "x\n"
        told = f"{EFFECT}another of the failpoint before\n{told}"
        (self.folder / "broker-1.log").write_text(told, encoding="utf-8")
        return {"broker-1": self.folder / "broker-1.log", "broker-2": self.folder / "none.log"}

    def unload_rules(self) -> None:
        self.loaded.clear()

    def entered_rules(self) -> frozenset[str]:
        return frozenset({"nothing is kept"} if self.enters else ())

    def replace_cluster(self, _why: str) -> None:
        self.loaded.clear()

    start_afresh = replace_cluster

    def perform(self, _environment: object, _round: Round) -> Judgement:
        came_to = self.rounds.pop(0) if self.rounds else SOUND
        if isinstance(came_to, Exception):
            raise came_to
        return Judgement(checks=(CheckResult(name="x", statement="x", witnesses=1, counts=came_to),))


def sessions(kafka: PlayedKafka, folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float = 60) -> BrokenSessions:
    scenarios = [each for each in find_scenarios(SCENARIOS) if not each.upgrades][:2]
    monkeypatch.setattr(broken_sessions, "own_programs", lambda _scenarios: {})
    made = BrokenSessions(folder=folder, scenarios=scenarios, backend="process", seconds=seconds)
    kafka.wanted, kafka.opened, kafka.folder = made._environment.wanted, made._break, folder
    made._environment = cast(Any, kafka)
    monkeypatch.setattr(broken_sessions, "perform", kafka.perform)
    return made


def test_each_rule_spares_what_comes_first_and_tells_of_its_effect_once() -> None:
    two = RULES + RULES.replace("nothing is kept", "nothing else")
    spared = sparing(two, 1_795_480_000_000, "k")
    for name in ("nothing is kept", "nothing else"):
        told = f'($1 > 3) && (!flag("{name}") || traceln("{EFFECT}k {name}"))'
        assert (
            f'IF java.lang.System.currentTimeMillis() > java.lang.Long.parseLong("1795480000000") && {told}' in spared
        )
    assert [line for line in spared.splitlines() if not line.startswith("IF")] == [
        line for line in two.splitlines() if not line.startswith("IF")
    ]


def test_a_name_with_quotes_is_told_without_them() -> None:
    (condition,) = [
        each for each in sparing('RULE is "Empty"\nIF true\n', 7, "k").splitlines() if each.startswith("IF")
    ]
    assert condition.count('"') == 6
    assert "k is 'Empty'" in condition


def test_every_failpoint_of_the_contract_can_spare() -> None:
    known = known_failpoints(CONTRACT)
    assert all(sparing(each.rules, 7, each.key).count('parseLong("7") && (') == len(each.names) for each in known)


def test_a_session_ends_with_the_first_red_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = PlayedKafka(rounds=[SOUND, {"lost-record": 2}, {"never": 1}])
    line = sessions(kafka, tmp_path, monkeypatch).tried(FAILPOINT)
    assert (line.outcome, line.anomalies) == (ChaosOutcome.FOUND, ("lost-record",))
    assert [conclusion for _, conclusion in line.rounds] == ["HOLDS", "VIOLATED"]
    assert len(kafka.rounds) == 1


def test_rounds_that_all_hold_have_not_found_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = sessions(PlayedKafka(rounds=[]), tmp_path, monkeypatch, seconds=0.1).tried(FAILPOINT)
    assert (line.outcome, len(line.rounds)) == (ChaosOutcome.NOT_FOUND, 1)


def test_rounds_that_an_interrupted_trial_has_left_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / FAILPOINT.key / "rounds" / "0-late-produce" / "judgement.json"
    left.parent.mkdir(parents=True)
    left.write_text("{}", encoding="utf-8")
    sessions(PlayedKafka(rounds=[]), tmp_path, monkeypatch, seconds=0.1).tried(FAILPOINT)
    assert not left.exists()


def test_where_no_round_could_be_judged_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = PlayedKafka(rounds=[TimeoutError("no coordinator")])
    line = sessions(kafka, tmp_path, monkeypatch, seconds=0.1).tried(FAILPOINT)
    assert (line.outcome, line.rounds[0][1]) == (ChaosOutcome.NOT_SHOWN, "TimeoutError: no coordinator")


def test_an_interrupt_that_ends_a_round_ends_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where what is tidied up after it fails in its turn."""
    refused = ConnectionRefusedError("the proxies have ended too")
    refused.__context__ = KeyboardInterrupt()
    with pytest.raises(ConnectionRefusedError):
        sessions(PlayedKafka(rounds=[refused]), tmp_path, monkeypatch).tried(FAILPOINT)


def test_code_that_is_never_run_and_a_rule_that_fails_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = sessions(PlayedKafka(rounds=[], enters=False), tmp_path, monkeypatch, seconds=0.1).tried(FAILPOINT)
    assert line.outcome is ChaosOutcome.NOT_ENTERED
    line = sessions(PlayedKafka(rounds=[], takes_effect=False), tmp_path, monkeypatch, seconds=0.1).tried(FAILPOINT)
    assert line.outcome is ChaosOutcome.WITHOUT_EFFECT
    line = sessions(PlayedKafka(rounds=[], refuses=True), tmp_path, monkeypatch).tried(FAILPOINT)
    assert (line.outcome, line.why) == (ChaosOutcome.FAILED, "no such class")


def test_red_where_no_rule_had_an_effect_is_a_false_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = PlayedKafka(rounds=[{"lost-record": 2}], takes_effect=False)
    assert sessions(kafka, tmp_path, monkeypatch).tried(FAILPOINT).outcome is ChaosOutcome.FALSE_ALARM


def test_what_was_tried_is_kept_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = PlayedKafka(rounds=[{"lost-record": 2}])
    ChaosTrials(tmp_path).add(sessions(kafka, tmp_path, monkeypatch).tried(FAILPOINT))
    again = ChaosTrials(tmp_path)
    assert again.left([FAILPOINT]) == []
    told = found_page(again.lines, 1, 180, ())
    assert "Of 1 whose rules had an effect, 1 are found." in told
    assert "| nothing is kept | Log.append | KIP98-X-01 | lost-record | 1 VIOLATED: " in told


def test_what_was_not_found_is_told_with_the_reason_and_counts_where_chaos_could_show_it() -> None:
    line = replace(unplayed(FAILPOINT), outcome=ChaosOutcome.NOT_FOUND, rounds=(("late-produce", "HOLDS"),) * 3)
    covered = MissedReason(because=MissedBecause.COVERED, reason="two of them", place=r"^Log\.")
    other = MissedReason(because=MissedBecause.MISSED, reason="never", name="another rule")
    told = found_page([line], 1, 180, [covered, other])
    assert "**Of 0 that change what a client, a reader or the log shows, 0 are found.**" in told
    assert f"| not found | {MissedBecause.COVERED} | two of them | 3 HOLDS |" in told
    assert unused([line], [covered, other]) == [other]
    assert "**Of 1 that change" in found_page([line], 1, 180, [other])


def test_every_reason_fits_a_known_failpoint() -> None:
    known = [unplayed(each) for each in chaos_failpoints()]
    assert all(any(reason.fits(line) for line in known) for reason in read_missed())
