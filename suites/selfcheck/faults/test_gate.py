"""The gate against a broker of a few lines: what passes, waits, vanishes, comes twice, and what ends when who ends."""

import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from harness.base import wait
from harness.faults.gate.gate import Gate, GateFailed, RuleHandle
from harness.faults.gate.rule import Rule, Then, Until, When
from harness.wire.frame_codec import request_header
from suites.selfcheck.fixtures.gate_pair import PATIENCE, Bench, Caller, Led, bench, end, init, opened, produce

ANY = When(apis=("EndTxn",))


Gateway = tuple[Gate, Led]


@pytest.fixture(scope="module")
def gateway() -> Iterator[Gateway]:
    """One gate for all."""
    with opened() as gateway:
        yield gateway
        assert gateway[0].troubles() == ()


@pytest.fixture
def way(gateway: Gateway) -> Iterator[Bench]:
    """A broker that answers everything well, behind the gate."""
    with bench(*gateway) as made:
        yield made


def on(way: Bench, when: When, then: Then) -> RuleHandle:
    """A rule on the one proxy."""
    return way.gate.engage(Rule(name="tried", proxies=(way.proxy,), when=when, then=then))


def held(engagement: RuleHandle, count: int = 1) -> None:
    """Wait until the rule holds so many."""
    wait.until(lambda: engagement.account().holding == count, what="a hold", within=PATIENCE)


def answers(caller: Caller, count: int) -> list[int]:
    """Correlation ids of the next answers."""
    return [got[0] for _ in range(count) if (got := caller.answer())]


def test_without_rules_everything_passes_in_order(way: Bench) -> None:
    caller = way.call()
    for correlation in range(50):
        caller.ask(correlation, end() if correlation % 2 else produce(), 3)
    assert answers(caller, 50) == list(range(50))
    assert way.broker.correlations == list(range(50))


def test_a_large_frame_and_one_in_single_bytes_pass_whole(way: Bench) -> None:
    caller = way.call()
    caller.ask(1, produce(size=5_000_000), 9)
    assert caller.answer() == (1, 0)
    assert len(way.broker.frames[0]) > 5_000_000
    raw = struct.pack(">i", len(way.broker.frames[0][:0]) + 20) + struct.pack(">hhih", 18, 0, 2, 10) + b"0123456789"
    for byte in raw:
        caller.connected.sendall(bytes([byte]))
    wait.until(lambda: len(way.broker.frames) == 2, what="the second frame", within=PATIENCE)
    assert way.broker.frames[1] == raw[4:]


def test_what_comes_after_a_held_request_waits_behind_it(way: Bench) -> None:
    caller, other = way.call(), way.call()
    engagement = on(way, ANY, Then(action="hold"))
    caller.ask(1, end(), 3)
    held(engagement)
    caller.ask(2, produce(), 9)
    other.ask(3, produce(), 9)
    assert other.answer() == (3, 0), "another connection does not wait"
    assert caller.silent()
    engagement.release()
    assert answers(caller, 2) == [1, 2]
    assert way.broker.correlations == [3, 1, 2]


def test_what_comes_after_one_held_alone_overtakes_it(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="hold", alone=True))
    caller.ask(1, end(), 3)
    held(engagement)
    caller.ask(2, produce(), 9)
    assert caller.answer() == (2, 0)
    engagement.off()
    assert caller.answer() == (1, 0)


def test_a_hold_ends_with_its_bound(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="hold", at_most_ms=50))
    caller.ask(1, end(), 3)
    assert caller.answer() == (1, 0)
    (strike,) = engagement.account().strikes
    assert strike.fate == "answered"
    assert strike.delivered_ns is not None
    assert strike.delivered_ns - strike.at_ns >= 50e6


def test_a_hold_ends_with_its_event_and_no_other(way: Bench) -> None:
    late, caller = way.call(), way.call()
    until = Until(apis=("EndTxn",))
    engagement = on(way, When(apis=("Produce",)), Then(action="hold", until=until))
    late.ask(1, produce("t"), 9)
    held(engagement)
    caller.ask(2, end("another"), 3)
    assert caller.answer() == (2, 0)
    assert engagement.account().holding == 1
    caller.ask(3, end("t"), 3)
    assert late.answer() == (1, 0)
    assert way.broker.correlations == [2, 3, 1]


def test_an_event_that_failed_is_none(gateway: Gateway) -> None:
    with bench(*gateway, lambda head: 51 if head.correlation == 2 else 0) as way:
        late, caller = way.call(), way.call()
        engagement = on(way, When(apis=("Produce",)), Then(action="hold", until=Until(apis=("EndTxn",))))
        late.ask(1, produce("t"), 9)
        held(engagement)
        caller.ask(2, end("t"), 3)
        assert caller.answer() == (2, 51)
        assert engagement.account().holding == 1
        caller.ask(3, end("t"), 3)
        assert late.answer() == (1, 0)


@pytest.mark.parametrize("hang_up", [False, True])
def test_a_held_request_outlives_its_sender(way: Bench, hang_up: bool) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="hold", hang_up=hang_up))
    caller.ask(1, end(), 3)
    held(engagement)
    if hang_up:
        assert caller.answer() is None
    caller.connected.close()
    account = engagement.off()
    assert way.broker.correlations == [1]
    assert [(strike.fate, strike.error) for strike in account.strikes] == [("answered", 0)]
    wait.until(lambda: way.broker.left == [1], what="the end of the broker's side", within=PATIENCE)


def test_a_dropped_request_never_comes_and_the_connection_stays(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="drop-request"))
    caller.ask(1, end(), 3)
    caller.ask(2, produce(), 9)
    assert caller.answer() == (2, 0)
    assert way.broker.correlations == [2]
    assert engagement.account().struck == 1


def test_a_dropped_answer_was_an_applied_request(gateway: Gateway) -> None:
    with bench(*gateway, lambda head: 47 if head.correlation == 1 else 0) as way:
        caller = way.call()
        engagement = on(way, ANY, Then(action="drop-response"))
        caller.ask(1, end(), 3)
        caller.ask(2, produce(), 9)
        assert caller.answer() == (2, 0)
        assert way.broker.correlations == [1, 2]
        assert [(strike.fate, strike.error) for strike in engagement.account().strikes] == [("answered", 47)]


def test_a_dropped_answer_may_end_the_connection_in_its_place(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="drop-response", hang_up=True))
    caller.ask(1, end(), 3)
    assert caller.answer() is None
    assert engagement.account().struck == 1
    assert way.broker.correlations == [1]


def test_a_repeated_request_comes_twice_and_is_answered_once(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="repeat"))
    caller.ask(1, end(), 3)
    caller.ask(2, produce(), 9)
    assert answers(caller, 2) == [1, 2]
    first, twin, _ = way.broker.frames
    assert first[8:] == twin[8:]
    assert request_header(twin).correlation not in (1, 2)
    assert engagement.account().strikes[0].error == 0


@pytest.mark.parametrize(
    ("when", "struck"),
    [
        (When(apis=("EndTxn",)), [1, 2]),
        (When(apis=("EndTxn",), commits=False), [2]),
        (When(apis=("EndTxn",), versions=(4, 5)), [2]),
        (When(apis=("Produce",), partitions=("x-0",)), [3]),
        (When(apis=("Produce",), transactional_ids=("u",)), [4]),
        (When(apis=("Produce",), transactional_ids=("no", "u*")), [4]),
        (When(apis=("Produce",), transactional_ids=("u.*",)), []),
        (When(apis=("EndTxn", "Produce"), client_ids=("other",)), [4]),
        (When(apis=("Produce",), producer_id=8), []),
        (When(apis=("EndTxn", "Produce"), every=2), [2, 4]),
        (When(apis=("EndTxn", "Produce"), at_most=3), [1, 2, 3]),
        (When(apis=("EndTxn", "Produce"), probability=0.0), []),
    ],
)
def test_a_rule_takes_what_fits_and_nothing_else(way: Bench, when: When, struck: list[int]) -> None:
    caller = way.call()
    on(way, when, Then(action="drop-request"))
    caller.ask(1, end(), 3)
    caller.ask(2, end(committed=False), 4)
    caller.ask(3, produce(), 9)
    caller.ask(4, produce("u", topic="y"), 9, client_id="other")
    caller.ask(5, init("last"), 4)
    passed = [number for number in (1, 2, 3, 4, 5) if number not in struck]
    assert answers(caller, len(passed)) == passed


def test_draws_of_a_rule_come_from_its_seed_alone(way: Bench) -> None:
    taken = []
    for seed in (1, 1, 2):
        caller = way.call()
        engagement = on(way, When(apis=("EndTxn",), probability=0.5, seed=seed), Then(action="repeat"))
        for correlation in range(40):
            caller.ask(correlation, end(), 3)
            caller.answer()
        engagement.off()
        taken.append([head.correlation for head in way.broker.asked[-(40 + engagement.account().struck) :]])
    assert [len(one) > 40 for one in taken] == [True] * 3
    assert [number for number in taken[0] if number < 40] == list(range(40))
    assert places(taken[0]) == places(taken[1]) != places(taken[2])


def places(arrived: list[int]) -> list[int]:
    """Where in the order of arrival the twins are."""
    return [place for place, number in enumerate(arrived) if number >= 40]


def test_an_older_identity_is_told_from_the_newest_one(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, When(apis=("Produce",), epochs="older"), Then(action="drop-request"))
    for handed_out in ("", "1"):
        caller.ask(1, produce(epoch=0), 9)
        caller.ask(2, init(), 4, client_id=handed_out)
        assert answers(caller, 2) == [1, 2]
    caller.ask(3, produce(epoch=0), 9)
    caller.ask(4, produce(epoch=1), 9)
    assert caller.answer() == (4, 0)
    assert [strike.epoch for strike in engagement.account().strikes] == [0]


@pytest.mark.parametrize(
    "garbage", [b"GET / HTTP/1.1\r\n\r\n", struct.pack(">i", -5) + b"12345678", struct.pack(">ii", 4, 1)]
)
def test_garbage_ends_its_own_connection_and_nothing_else(way: Bench, garbage: bytes) -> None:
    caller, other = way.call(), way.call()
    caller.connected.sendall(garbage)
    assert caller.answer() is None
    other.ask(1, end(), 3)
    assert other.answer() == (1, 0)
    assert way.broker.correlations == [1]


def test_half_a_frame_at_the_end_of_a_connection_is_nothing(way: Bench) -> None:
    caller = way.call()
    caller.connected.sendall(struct.pack(">i", 100) + b"half")
    caller.connected.close()
    wait.until(lambda: way.broker.left == [1], what="the end of the broker's side", within=PATIENCE)
    assert way.broker.frames == []


def test_an_unreadable_request_passes_and_is_counted(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="drop-request"))
    caller.connected.sendall(struct.pack(">ihhih", 12, 26, 3, 9, -1) + b"\0\xff")
    wait.until(lambda: way.broker.correlations == [9], what="the request", within=PATIENCE)
    account = engagement.account()
    assert (account.seen, account.struck, account.unreadable) == (1, 0, 1)


def test_a_caller_learns_that_nobody_takes_the_connection_behind(way: Bench) -> None:
    way.broker.listener.shutdown(socket.SHUT_RDWR)
    assert way.call().answer() is None


def test_a_caller_learns_that_the_broker_hung_up_and_what_was_held_is_lost(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="hold"))
    caller.ask(1, end(), 3)
    held(engagement)
    way.broker.connections[0].shutdown(socket.SHUT_RDWR)
    assert caller.answer() is None
    assert [strike.fate for strike in engagement.account().strikes] == ["lost"]


def test_strikes_are_counted_beyond_those_that_are_listed(way: Bench) -> None:
    caller = way.call()
    engagement = on(way, ANY, Then(action="repeat"))
    for correlation in range(300):
        caller.ask(correlation, end(), 3)
    assert answers(caller, 300) == list(range(300))
    account = engagement.off()
    assert (account.struck, len(account.strikes)) == (300, 200)


def test_closing_leads_proxies_back_and_ends_the_process_twice_over() -> None:
    with opened() as gateway, bench(*gateway) as way:
        assert way.led.leads[way.proxy] != way.broker.address
        way.gate.close()
        way.gate.close()
        assert way.led.leads[way.proxy] == way.broker.address
        assert way.gate.process.returncode == 0
        with pytest.raises(GateFailed, match="gone"):
            way.gate.account("tried-1")


def test_what_the_gate_does_not_know_is_refused_in_words(way: Bench) -> None:
    with pytest.raises(GateFailed, match="NoSuchApi"):
        on(way, When(apis=("NoSuchApi",)), Then(action="hold"))
    with pytest.raises(GateFailed, match="no_such_liar"):
        on(way, ANY, Then(action="lie", lie="toxics.liars.no_such_liar:lie"))
    with pytest.raises(GateFailed):
        way.gate.account("never")


PARENT = """
import sys
from harness.faults.gate.gate import open_gate
gate = open_gate(None)
gate.troubles()
print(gate.process.pid, flush=True)
sys.stdin.read()
"""


def test_the_gate_ends_when_its_parent_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        gate = psutil.Process(int(parent.stdout.readline()))
        os.kill(parent.pid, signal.SIGKILL)
    gone, _ = psutil.wait_procs([gate], timeout=PATIENCE)
    assert gone
