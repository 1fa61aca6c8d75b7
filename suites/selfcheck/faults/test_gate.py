"""The gate before a fake broker: what passes, is held, dropped or repeated, and which connections end."""

import struct
import threading
from typing import Any

import pytest

from harness.base import wait
from harness.faults.frame_rule import Then, Until, When
from harness.wire.frame_codec import request_header
from suites.selfcheck.fixtures.gate_pair import (
    ANY,
    PATIENCE,
    GatePair,
    RunningGate,
    add,
    answered,
    answers,
    end,
    gate_pair,
    held,
    init,
    on,
    produce,
)

pytest_plugins = ("suites.selfcheck.fixtures.gate_pair",)


def test_without_rules_everything_passes_in_order(pair: GatePair) -> None:
    client = pair.call()
    for correlation in range(50):
        client.ask(correlation, end() if correlation % 2 else produce(), 3)
    assert answers(client, 50) == list(range(50))
    assert pair.broker.correlations == list(range(50))


def test_a_large_frame_and_one_in_single_bytes_pass_whole(pair: GatePair) -> None:
    client = pair.call()
    client.ask(1, produce(size=5_000_000), 9)
    assert client.answer() == (1, 0)
    assert len(pair.broker.frames[0]) > 5_000_000
    raw = struct.pack(">i", len(pair.broker.frames[0][:0]) + 20) + struct.pack(">hhih", 18, 0, 2, 10) + b"0123456789"
    for byte in raw:
        client.connected.sendall(bytes([byte]))
    wait.until(lambda: len(pair.broker.frames) == 2, what="the second frame", timeout_seconds=PATIENCE)
    assert pair.broker.frames[1] == raw[4:]


def test_what_comes_after_a_held_request_waits_behind_it(pair: GatePair) -> None:
    client, other = pair.call(), pair.call()
    handle = on(pair, ANY, Then(action="hold"))
    client.ask(1, end(), 3)
    held(handle)
    client.ask(2, produce(), 9)
    other.ask(3, produce(), 9)
    assert other.answer() == (3, 0), "another connection does not wait"
    assert client.silent()
    handle.off()
    assert answers(client, 2) == [1, 2]
    assert pair.broker.correlations == [3, 1, 2]


def test_what_comes_after_one_held_alone_overtakes_it(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="hold", alone=True))
    client.ask(1, end(), 3)
    held(handle)
    client.ask(2, produce(), 9)
    assert client.answer() == (2, 0)
    handle.off()
    assert client.answer() == (1, 0)


def test_a_hold_ends_with_its_bound(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="hold", at_most_ms=51))  # the loop's clock has whole milliseconds
    client.ask(1, end(), 3)
    assert client.answer() == (1, 0)
    (strike,) = handle.report().strikes
    assert strike.fate == "answered"
    assert strike.delivered_ns is not None
    assert strike.delivered_ns - strike.at_ns >= 50e6


def test_a_hold_ends_with_its_event_and_no_other(pair: GatePair) -> None:
    late, client = pair.call(), pair.call()
    until = Until(apis=("EndTxn",))
    handle = on(pair, When(apis=("Produce",)), Then(action="hold", until=until))
    late.ask(1, produce("t"), 9)
    held(handle)
    client.ask(2, end("another"), 3)
    assert client.answer() == (2, 0)
    assert handle.report().holding == 1
    client.ask(3, end("t"), 3)
    assert late.answer() == (1, 0)
    assert pair.broker.correlations == [2, 3, 1]


def test_an_event_that_failed_ends_no_hold(gate_process: RunningGate) -> None:
    with gate_pair(*gate_process, lambda head: 51 if head.correlation == 2 else 0) as pair:
        late, client = pair.call(), pair.call()
        handle = on(pair, When(apis=("Produce",)), Then(action="hold", until=Until(apis=("EndTxn",))))
        late.ask(1, produce("t"), 9)
        held(handle)
        client.ask(2, end("t"), 3)
        assert client.answer() == (2, 51)
        assert handle.report().holding == 1
        client.ask(3, end("t"), 3)
        assert late.answer() == (1, 0)


@pytest.mark.parametrize("hang_up", [False, True])
def test_a_held_request_outlives_its_sender(pair: GatePair, hang_up: bool) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="hold", hang_up=hang_up))
    client.ask(1, end(), 3)
    held(handle)
    if hang_up:
        assert client.answer() is None
    client.connected.close()
    handle.off(await_answers=False)
    answered(handle)
    assert pair.broker.correlations == [1]
    assert [(strike.fate, strike.error) for strike in handle.report().strikes] == [("answered", 0)]
    wait.until(lambda: pair.broker.left == [1], what="the end of the broker's side", timeout_seconds=PATIENCE)


def test_the_answer_to_a_held_request_is_known_though_its_sender_left_before_it(gate_process: RunningGate) -> None:
    left = threading.Event()
    with gate_pair(*gate_process, lambda _: 0 if left.wait(PATIENCE) else 1) as pair:
        client = pair.call()
        handle = on(pair, ANY, Then(action="hold"))
        client.ask(1, end(), 3)
        held(handle)
        handle.off(await_answers=False)
        wait.until(lambda: pair.broker.asked, what="the held request", timeout_seconds=PATIENCE)
        client.connected.close()
        for _ in range(3):
            pair.gate.errors()  # the gate has served the end of the client's connection before it answers this
        left.set()
        answered(handle)
        assert [(strike.fate, strike.error) for strike in handle.report().strikes] == [("answered", 0)]


def test_a_dropped_request_never_comes_and_the_connection_stays(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="drop-request"))
    client.ask(1, end(), 3)
    client.ask(2, produce(), 9)
    assert client.answer() == (2, 0)
    assert pair.broker.correlations == [2]
    assert handle.report().struck == 1


def test_a_dropped_answer_was_an_applied_request(gate_process: RunningGate) -> None:
    with gate_pair(*gate_process, lambda head: 47 if head.correlation == 1 else 0) as pair:
        client = pair.call()
        handle = on(pair, ANY, Then(action="drop-response"))
        client.ask(1, end(), 3)
        client.ask(2, produce(), 9)
        assert client.answer() == (2, 0)
        assert pair.broker.correlations == [1, 2]
        assert [(strike.fate, strike.error) for strike in handle.report().strikes] == [("answered", 47)]


def test_a_dropped_answer_may_end_the_connection_in_its_place(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="drop-response", hang_up=True))
    client.ask(1, end(), 3)
    assert client.answer() is None
    assert handle.report().struck == 1
    assert pair.broker.correlations == [1]


def test_a_repeated_request_comes_twice_and_is_answered_once(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="repeat"))
    client.ask(1, end(), 3)
    client.ask(2, produce(), 9)
    assert answers(client, 2) == [1, 2]
    first, twin, _ = pair.broker.frames
    assert first[8:] == twin[8:]
    assert request_header(twin).correlation not in (1, 2)
    assert handle.report().strikes[0].error == 0


@pytest.mark.parametrize(
    ("when", "struck"),
    [
        (When(apis=("EndTxn",)), [1, 2]),
        (When(apis=("EndTxn",), versions=(4, 5)), [2]),
        (When(apis=("Produce",), transactional_ids=("u",)), [4]),
        (When(apis=("Produce",), transactional_ids=("no", "u*")), [4]),
        (When(apis=("Produce",), transactional_ids=("u.*",)), []),
        (When(apis=("EndTxn", "Produce"), transactional=False), []),
        (When(apis=("EndTxn", "Produce"), every=2), [2, 4]),
        (When(apis=("EndTxn", "Produce"), at_most=3), [1, 2, 3]),
        (When(apis=("EndTxn", "Produce"), every=3, at_most=1), [3]),
        (When(apis=("EndTxn", "Produce"), probability=0.0), []),
    ],
)
def test_a_rule_takes_what_matches_and_nothing_else(pair: GatePair, when: When, struck: list[int]) -> None:
    client = pair.call()
    on(pair, when, Then(action="drop-request"))
    client.ask(1, end(), 3)
    client.ask(2, end(committed=False), 4)
    client.ask(3, produce(), 9)
    client.ask(4, produce("u", topic="y"), 9, client_id="other")
    client.ask(5, init("last"), 4)
    passed = [number for number in (1, 2, 3, 4, 5) if number not in struck]
    assert answers(client, len(passed)) == passed


def test_of_one_id_a_rule_takes_the_first_that_fits_and_then_every_request(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, When(apis=("EndTxn",), commits=False, one_id=True), Then(action="drop-request"))
    asked = [end("a"), end("b", committed=False), end("a", committed=False), end("b"), end("b", committed=False)]
    for number, request in enumerate(asked, start=1):
        client.ask(number, request, 3)
    client.ask(6, init("last"), 4)
    assert answers(client, 3) == [1, 3, 6]
    assert handle.report().struck == 3


@pytest.mark.parametrize(("adds", "struck"), [(True, [1, 2]), (False, [3])])
def test_what_adds_partitions_is_told_from_what_only_asks_about_them(
    pair: GatePair, adds: bool, struck: list[int]
) -> None:
    client, rule = pair.call(), When(apis=("AddPartitionsToTxn", "EndTxn"), adds=adds)
    on(pair, rule, Then(action="drop-request"))
    for number, version, verify_only in ((1, 3, False), (2, 5, False), (3, 5, True)):
        client.ask(number, add(verify_only=verify_only), version)
    client.ask(4, end(), 3)
    passed = [number for number in (1, 2, 3, 4) if number not in struck]
    assert answers(client, len(passed)) == passed


@pytest.mark.parametrize(
    ("when", "struck"),
    [
        (When(apis=("EndTxn",), commits=False), [6, 9]),
        (When(apis=("EndTxn",), commits=True), [4]),
        (When(apis=("Produce",), after="nothing"), [1]),
        (When(apis=("Produce",), after="init"), [3, 8]),
        (When(apis=("Produce",), after="commit"), [5]),
        (When(apis=("Produce",), after="abort"), [10]),
        (When(apis=("EndTxn",), after="write"), [4, 6, 9]),
        (When(apis=("InitProducerId",), after="abort"), [7]),
        (When(apis=("InitProducerId",), after="write"), [2]),
        (When(apis=("InitProducerId",), after="init"), []),
    ],
)
def test_a_rule_tells_what_became_last_of_an_id(pair: GatePair, when: When, struck: list[int]) -> None:
    client, who = pair.call(), f"{when.after}-{when.apis}"
    handle = on(pair, when, Then(action="hold", at_most_ms=1))
    write, abort = produce(who), end(who, committed=False)
    requests: list[Any] = [write, init(who), write, end(who), write, abort, init(who), write, abort, write]
    taken = []
    for number, request in enumerate(requests, start=1):
        before = handle.report().struck
        client.ask(number, request, 9 if request is write else 3)
        client.answer()
        taken += [number] if handle.report().struck > before else []
    assert taken == struck


def test_a_strike_tells_which_partitions_a_produce_writes_to(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, When(apis=("Produce", "EndTxn")), Then(action="hold", at_most_ms=1))
    client.ask(1, produce(topic="y"), 9)
    client.ask(2, end(), 3)
    assert answers(client, 2) == [1, 2]
    assert [strike.partitions for strike in handle.report().strikes] == [("y-0",), ()]


def test_draws_of_a_rule_come_from_its_seed_alone(pair: GatePair) -> None:
    taken = []
    for seed in (1, 1, 2):
        client = pair.call()
        handle = on(pair, When(apis=("EndTxn",), probability=0.5, seed=seed), Then(action="repeat"))
        for correlation in range(40):
            client.ask(correlation, end(), 3)
            client.answer()
        handle.off()
        taken.append([head.correlation for head in pair.broker.asked[-(40 + handle.report().struck) :]])
    assert [len(one) > 40 for one in taken] == [True] * 3
    assert [number for number in taken[0] if number < 40] == list(range(40))
    assert positions(taken[0]) == positions(taken[1]) != positions(taken[2])


def positions(arrived: list[int]) -> list[int]:
    """Where in the order of arrival the twins are."""
    return [position for position, number in enumerate(arrived) if number >= 40]


def test_an_older_epoch_is_distinguished_from_the_newest_one(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, When(apis=("Produce",), epochs="older"), Then(action="drop-request"))
    for handed_out in ("", "1"):
        client.ask(1, produce(epoch=0), 9)
        client.ask(2, init(), 4, client_id=handed_out)
        assert answers(client, 2) == [1, 2]
    client.ask(3, produce(epoch=0), 9)
    client.ask(4, produce(epoch=1), 9)
    assert client.answer() == (4, 0)
    assert [strike.epoch for strike in handle.report().strikes] == [0]


def test_strikes_are_counted_beyond_those_that_are_listed(pair: GatePair) -> None:
    client = pair.call()
    handle = on(pair, ANY, Then(action="repeat"))
    for correlation in range(300):
        client.ask(correlation, end(), 3)
    assert answers(client, 300) == list(range(300))
    report = handle.off()
    assert (report.struck, len(report.strikes)) == (300, 200)
