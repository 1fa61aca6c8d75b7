"""Faults that wait for a moment, and what is noted of when they struck."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from types import SimpleNamespace
from typing import cast

import pytest

from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.paths import SCENARIOS
from harness.chaos.moments.awaited_moment import LOOKS, MomentWait
from harness.chaos.moments.moment import MOMENTS
from harness.chaos.moments.struck_moments import StruckMoments
from harness.chaos.plan.scenario import PlannedFault, Scenario
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.play.casting import shape_on
from harness.chaos.play.fault_runner import run_faults
from harness.evidence.history.operation import FaultWindow
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_gate import FrameGate
from harness.faults.frame_rule import Rule, RuleReport, Strike
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach

BROKERS = (1, 2, 3)
SCENARIO = next(each for each in find_scenarios(SCENARIOS) if each.name == "transfer-through-crashes")


def shape(reach: frozenset[ToxicReach] = frozenset(ToxicReach), scenario: Scenario = SCENARIO) -> ClusterShape:
    return shape_on(scenario, BROKERS, reach)


@dataclass(slots=True)
class FakeGate:
    """A gate that sees the first request of a rule at once, or never; it delivers nothing where a broker is dead.

    :param answers: Whether the broker's answer to it has come.
    """

    sees: bool = True
    answers: bool = True
    proxy: str = "link-2-3"
    transactional_ids: tuple[str, ...] = ()
    handles: list["FakeRule"] = field(default_factory=list)
    at_ns: int = 0

    @property
    def held(self) -> bool:
        """Whether all that rules were put on for is held now."""
        return bool(self.handles) and all(handle.held for handle in self.handles)

    def intercept(self, *_proxies: str) -> None:
        """Nothing to do."""

    def add_rule(self, rule: Rule) -> "FakeRule":
        self.handles.append(FakeRule(self, rule, self.sees))
        return self.handles[-1]


@dataclass(slots=True)
class FakeRule:
    """One rule of the gate."""

    gate: FakeGate
    rule: Rule
    held: bool

    def report(self) -> RuleReport:
        strike = Strike(
            proxy=self.gate.proxy,
            api=self.rule.when.apis[0],
            version=1,
            fate="held" if self.held else "lost",
            at_ns=self.gate.at_ns,
            transactional_ids=self.gate.transactional_ids,
            producer_id=7,
        )
        strikes = (strike,) if self.gate.sees else ()
        holding = int(self.held and (self.gate.answers or self.rule.then.action == "hold"))
        return RuleReport(
            rule="r", seen=1, struck=len(strikes), holding=holding, unanswered=0, unreadable=0, strikes=strikes
        )

    def off(self, *, await_answers: bool = True) -> RuleReport:  # noqa: ARG002
        self.held = False
        return self.report()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotingToxic:
    """Notes what it was struck with, and whether the gate held its request then."""

    gate: FakeGate
    noted: list[tuple[Mapping[str, Json], bool]] = field(default_factory=list, compare=False)
    name: str = "noting"
    power: Power = Power.PROCESS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.PROCESSES,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: object) -> Mapping[str, Json]:  # noqa: ARG002
        return {}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:  # noqa: ARG002
        self.noted.append((chosen, self.gate.held))
        yield StrikeCount(where="here", how="strikes", struck=1)


def target(gate: FakeGate) -> FaultTarget:
    clock = RunClock()
    gate.at_ns = clock.started_ns
    topology = SimpleNamespace(
        brokers=BROKERS,
        lane_proxies={("victim", broker): f"lane-victim-{broker}" for broker in BROKERS},
        links={(a, b): f"link-{a}-{b}" for a in BROKERS for b in BROKERS if a != b},
    )
    cluster = SimpleNamespace(topology=topology, links=object())
    return FaultTarget(
        cluster=cluster,
        clock=clock,
        client=None,  # type: ignore[arg-type]
        topics={},
        open_gate=lambda _links: cast(FrameGate, gate),
    )


def played(
    gate: FakeGate, moment: str, chosen: Mapping[str, Json], state: str = ""
) -> tuple[FaultWindow, NotingToxic, StruckMoments]:
    toxic, windows, at = NotingToxic(gate=gate), list[FaultWindow](), target(gate)
    planned = PlannedFault(toxic=toxic, at_ms=0, duration_ms=30, chosen=chosen, moment=moment, state=state)
    noted = StruckMoments(at.clock)
    run_faults([planned], at, Event(), windows.append, noted)
    return windows[0], toxic, noted


def test_a_fault_strikes_while_the_request_of_its_moment_is_held_and_not_longer() -> None:
    gate = FakeGate()
    window, toxic, noted = played(gate, "marker-in-flight", {"broker": 1, "down_ms": 5})
    assert (window.struck, window.how) == (1, "strikes; at its moment, marker-in-flight")
    assert toxic.noted == [({"broker": 2, "down_ms": 5}, True)]  # the coordinator, which sent the markers
    assert not gate.held
    (moment,), (held,) = noted.moments, noted.held
    assert (held.api, held.link, held.producer_id) == ("WriteTxnMarkers", True, 7)
    assert held.since <= moment.since <= moment.upto <= held.upto


def test_a_fault_whose_moment_never_came_struck_nothing_and_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.chaos.moments.awaited_moment.WAIT", MomentWait(0.02, 0.02))
    window, toxic, noted = played(FakeGate(sees=False), "end-in-flight", {"broker": 1})
    assert window.struck == 0
    assert "the moment never came: a client's EndTxn is under way (end-in-flight)" in window.how
    assert (toxic.noted, noted.moments, noted.held) == ([], [], [])


def test_a_moment_of_an_answer_comes_with_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.chaos.moments.awaited_moment.WAIT", MomentWait(0.02, 0.02))
    window, toxic, _ = played(FakeGate(answers=False), "end-answered", {"broker": 1})
    assert (window.struck, toxic.noted) == (0, [])
    assert "the coordinator has ended a transaction" in window.how
    window, toxic, _ = played(gate := FakeGate(), "end-answered", {"broker": 1})
    assert window.struck == 1
    assert [handle.rule.then.action for handle in gate.handles] == ["hold-response"]


def test_markers_are_held_before_the_request_of_a_moment_and_until_the_fault_is_on() -> None:
    window, toxic, noted = played(gate := FakeGate(), "verification-before-markers", {"broker": 1})
    assert (window.struck, [held for _, held in toxic.noted]) == (1, [True])
    markers, question = (handle.rule for handle in gate.handles)
    assert (markers.when.apis, markers.when.at_most) == (("WriteTxnMarkers",), None)
    assert (question.when.apis, question.when.at_most) == (("AddPartitionsToTxn",), 1)
    assert not any(handle.held for handle in gate.handles)
    assert sorted(held.api for held in noted.held) == ["AddPartitionsToTxn", "WriteTxnMarkers"]


@pytest.mark.parametrize(
    ("told", "taken"),
    [
        (["Empty", "Ongoing", "CompleteCommit"], 3),  # two went on before it
        (["PrepareCommit", "CompleteCommit"], 1),  # its markers were written while it was looked at
        (["PrepareCommit"] * LOOKS + ["CompleteCommit"], 2),
        ([None], 1),
    ],
)
def test_a_fault_waits_for_a_request_of_an_id_in_its_state(
    monkeypatch: pytest.MonkeyPatch, told: list[str | None], taken: int
) -> None:
    states = iter(told)
    monkeypatch.setattr("harness.chaos.moments.awaited_moment.told_state", lambda *_asked: next(states))
    gate = FakeGate()
    window, toxic, noted = played(gate, "init-in-flight", {"broker": 1}, state="CompleteCommit")
    assert window.struck == 1
    assert list(states) == []
    assert [handle.rule.when.at_most for handle in gate.handles] == [1] * taken
    assert len(noted.held) == taken
    assert len(toxic.noted) == 1
    assert noted.held[-1].since <= noted.moments[0].since <= noted.moments[0].upto <= noted.held[-1].upto


def test_others_are_let_go_before_it_strikes(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, told = FakeGate(), list[list[bool]]()

    def looked(_strike: Strike, _target: FaultTarget, _first: int | None) -> str:
        told.append([handle.held for handle in gate.handles])
        return "Ongoing" if len(told) == 2 else "Empty"

    monkeypatch.setattr("harness.chaos.moments.awaited_moment.told_state", looked)
    played(gate, "init-in-flight", {"broker": 1}, state="Ongoing")
    assert told == [[True], [False, True]]


def test_a_state_that_does_not_come_lets_the_fault_strike_at_its_moment_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.chaos.moments.awaited_moment.WAIT", MomentWait(0.15, 0.2))
    monkeypatch.setattr("harness.chaos.moments.awaited_moment.told_state", lambda *_asked: "Empty")
    gate = FakeGate()
    window, toxic, _ = played(gate, "init-in-flight", {"broker": 1}, state="Ongoing")
    assert (window.struck, window.how) == (1, "strikes; at its moment, init-in-flight")
    assert len(gate.handles) > 1
    assert [handle.held for handle in gate.handles] == [False] * len(gate.handles)
    assert len(toxic.noted) == 1


def test_a_moment_on_lanes_that_holds_markers_needs_the_links_as_well() -> None:
    at = target(FakeGate())
    moment = MOMENTS["end-answered-before-markers"]
    assert moment.reach == {ToxicReach.LANES, ToxicReach.LINKS}
    assert {name.partition("-")[0] for name in moment.proxies(at)} == {"lane", "link"}
    assert {name.partition("-")[0] for name in moment.rule(at).proxies} == {"lane"}
    assert {name.partition("-")[0] for name in moment.markers_rule(at).proxies} == {"link"}


@pytest.mark.parametrize("name", ["verification-pending", "verification-before-markers"])
def test_where_no_transaction_is_open_leaders_add_and_none_only_asks(name: str) -> None:
    told = {state: MOMENTS[name].rule(target(FakeGate()), state).when.adds for state in ("", *MOMENTS[name].states)}
    assert told == {state: None if state in ("", "Ongoing") else True for state in told}
    assert MOMENTS["produce-in-flight"].rule(target(FakeGate()), "Empty").when.adds is None


@pytest.mark.parametrize(
    ("moment", "state", "after", "commits"),
    [
        ("verification-pending", "Empty", "init", None),
        ("verification-pending", "Ongoing", "", None),
        ("verification-before-markers", "PrepareAbort", "abort", None),
        ("produce-before-markers", "PrepareCommit", "commit", None),
        ("produce-in-flight", "CompleteAbort", "abort", None),
        ("init-in-flight", "unknown", "nothing", None),
        ("init-in-flight", "Ongoing", "write", None),
        ("init-in-flight", "", "", None),
        ("end-answered", "CompleteAbort", "", False),
        ("end-in-flight", "Ongoing", "", None),
        ("marker-in-flight", "PrepareCommit", "", True),
    ],
)
def test_the_gate_takes_what_can_be_in_the_state_as_far_as_it_can_tell(
    moment: str, state: str, after: str, commits: bool | None
) -> None:
    when = MOMENTS[moment].rule(target(FakeGate()), state).when
    assert (when.after, when.commits) == (after, commits)
    writes = MOMENTS[moment].api not in ("InitProducerId", "EndTxn", "WriteTxnMarkers")
    begins = bool(after) and writes  # whatever else the id writes would open its transaction
    assert (when.one_id, when.at_most) == (begins, None if begins else 1)


def test_what_leaders_ask_is_told_apart_by_what_clients_did_so_that_their_lanes_pass_the_gate_too() -> None:
    for name in ("verification-pending", "verification-before-markers"):
        assert {proxy.partition("-")[0] for proxy in MOMENTS[name].proxies(target(FakeGate()))} == {"lane", "link"}
    assert MOMENTS["marker-in-flight"].reach == {ToxicReach.LINKS}


@pytest.mark.parametrize(
    ("moment", "proxy", "ids", "chosen"),
    [
        ("verification-pending", "link-2-3", ("a",), {"broker": 3}),
        ("end-in-flight", "lane-victim-3", ("a",), {"broker": 3, "transactional_id": "a"}),
        ("end-in-flight", "somewhere", (), {"broker": 1, "transactional_id": "teller"}),
        ("marker-in-flight", "link-2-3", (), {"topic": "accounts"}),  # nothing that the request could tell
    ],
)
def test_the_fault_is_aimed_at_who_the_request_is_for(
    moment: str, proxy: str, ids: tuple[str, ...], chosen: dict[str, Json]
) -> None:
    every: dict[str, Json] = {"broker": 1, "transactional_id": "teller", "topic": "accounts"}
    drawn = {name: every[name] for name in chosen}
    _, toxic, _ = played(FakeGate(proxy=proxy, transactional_ids=ids), moment, drawn)
    assert toxic.noted[0][0] == chosen


def test_requests_that_were_struck_are_moments_and_dropped_ones_are_not_held() -> None:
    clock = RunClock()
    strike = Strike(proxy="lane-victim-1", api="EndTxn", version=4, fate="dropped", at_ns=clock.started_ns + 5_000_000)
    kept = replace(strike, fate="answered", delivered_ns=clock.started_ns + 9_000_000)
    noted = StruckMoments(clock)
    noted.note_fault("lost-request", StrikeCount(where="", how="", struck=2, requests=(strike, kept)), (0, 1))
    assert [(each.since, each.upto, each.api) for each in noted.moments] == [(5.0, 5.0, "EndTxn")] * 2
    assert [(each.since, each.upto, each.link) for each in noted.held] == [(5.0, 9.0, False)]
    noted.note_fault("kill", StrikeCount(where="", how="", struck=0), (0, 1))
    noted.note_fault("kill", StrikeCount(where="", how="", struck=1, moment=(3.0, 4.0)), (0, 9))
    assert [(each.fault, each.since, each.upto) for each in noted.moments[2:]] == [("kill", 3.0, 4.0)]
