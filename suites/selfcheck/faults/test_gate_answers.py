"""The gate before a fake broker: answers that are held, and answers that are rewritten."""

import pytest

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.unprepared import Unprepared
from harness.evidence.requirement_evidence import Fault
from harness.lab.powers.request_gate import GateAction, RequestGate
from harness.wire.wire_errors import WireError
from suites.selfcheck.fixtures.gate_pair import PATIENCE, GatePair, RunningGate, end, gate_pair, produce

pytest_plugins = ("suites.selfcheck.fixtures.gate_pair",)


def request_gate(pair: GatePair) -> RequestGate:
    """The power of the lab, over this gate."""
    return RequestGate(open_gate=lambda: pair.gate, clock=RunClock())


def test_a_held_answer_keeps_those_behind_it_and_was_given_before(pair: GatePair) -> None:
    client, noted = pair.call(), list[Fault]()
    power = request_gate(pair)
    with power.on(pair.proxy, api="EndTxn", action="hold-response", name="held", faults=noted, wish={}) as gated:
        client.ask(1, end(), 3)
        gated.wait()
        client.ask(2, produce(), 9)
        wait.until(lambda: len(pair.broker.asked) == 2, what="the second request", timeout_seconds=PATIENCE)
        assert client.silent()
        gated.release()
        assert [client.answer(), client.answer()] == [(1, 0), (2, 0)]
    (fault,) = noted
    (strike,) = fault.strikes
    assert (fault.kind, fault.action, fault.struck, strike.fate, strike.error) == (
        "gate", "hold-response", 1, "answered", 0,
    )  # fmt: skip
    assert strike.answered is not None
    assert strike.at <= strike.answered <= fault.ended


@pytest.mark.parametrize(("skip", "errors"), [(0, [47, 0, 0]), (1, [0, 47, 0])])
def test_one_answer_gets_another_error_and_the_true_one_is_noted(pair: GatePair, skip: int, errors: list[int]) -> None:
    client, noted = pair.call(), list[Fault]()
    wish = {"error": 47, "skip": skip}
    with request_gate(pair).on(
        pair.proxy,
        api="Produce",
        action="rewrite",
        name="lie",
        faults=noted,
        wish=wish,  # type: ignore[arg-type]
    ):
        for correlation in range(3):
            client.ask(correlation, produce(), 9)
        assert [got[1] for _ in range(3) if (got := client.answer())] == errors
    assert [(strike.fate, strike.error) for strike in noted[0].strikes] == [("rewritten", 0)]


def test_only_the_error_that_is_named_is_rewritten(gate_process: RunningGate) -> None:
    with gate_pair(*gate_process, lambda head: head.correlation // 10) as pair:
        client, noted = pair.call(), list[Fault]()
        with request_gate(pair).on(
            pair.proxy,
            api="Produce",
            action="rewrite",
            name="lie",
            faults=noted,
            wish={"error": 0, "instead_of": 48, "at_most": None},
        ) as gated:
            for correlation in (470, 480, 481):
                client.ask(correlation, produce(), 9)
            assert [got[1] for _ in range(3) if (got := client.answer())] == [47, 0, 0]
            gated.wait(2)


@pytest.mark.parametrize("action", ["hold", "hold-response", "drop-request", "repeat", "rewrite"])
def test_what_never_comes_is_no_situation(pair: GatePair, action: GateAction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.lab.powers.request_gate.MET_SECONDS", 0.05)
    noted = list[Fault]()
    power = request_gate(pair)
    rule = power.on(pair.proxy, api="EndTxn", action=action, name="never", faults=noted, wish={})
    with rule as gated, pytest.raises(Unprepared, match="took 0 of 1"):
        gated.wait()
    assert noted[0].struck == 0
    assert power.led == {pair.proxy}


def test_a_refused_rewrite_says_so(pair: GatePair) -> None:
    wish = {"error": "none"}
    with (
        pytest.raises((Unprepared, WireError), match="cannot add"),
        request_gate(pair).on(
            pair.proxy,
            api="EndTxn",
            action="rewrite",
            name="bad",
            faults=[],
            wish=wish,  # type: ignore[arg-type]
        ),
    ):
        pass


def test_the_gate_stands_before_a_broker_that_has_no_proxy(pair: GatePair) -> None:
    first = pair.gate.stand_before("direct", pair.broker.address)
    assert first == pair.gate.stand_before("direct", pair.broker.address)
    pair.links.upstreams["direct"] = first
    client = GatePair(pair.broker, pair.gate, pair.links, "direct", pair.clients).call()
    client.ask(1, end(), 3)
    assert client.answer() == (1, 0)
