"""Each frame toxic against a fake broker: what it draws strikes the requests that it names, and heals."""

import struct
from collections.abc import Mapping
from random import Random
from select import select
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.chaos.plan.toxic_catalogue import find_toxics
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.frame_toxic import EVERY_ID, FrameToxic
from harness.faults.toxic import ClusterShape, Power
from suites.selfcheck.fixtures.gate_pair import PATIENCE, GatePair, add, end, init, produce

pytest_plugins = ("suites.selfcheck.fixtures.gate_pair",)

SHAPE = ClusterShape(topics={"accounts": 1}, transactional_ids=("teller",))
TOXICS = {name: toxic for name, toxic in find_toxics().items() if isinstance(toxic, FrameToxic)}
SURE: Mapping[str, Json] = {"transactional_id": EVERY_ID, "percent": 100, "hang_up": False, "persistent": True}


def target_of(pair: GatePair, *, proxies: bool = True) -> FaultTarget:
    """A target with one lane, which is also its one link between brokers."""
    lanes, links = ({("victim", 1): pair.proxy}, {(1, 2): pair.proxy}) if proxies else ({}, {})
    topology = SimpleNamespace(brokers=(1, 2), lane_proxies=lanes, links=links)
    cluster = cast(Any, SimpleNamespace(links=pair.links, topology=topology))
    return FaultTarget(
        cluster=cluster, clock=RunClock(), client=cast(Any, None), topics={}, open_gate=lambda _: pair.gate
    )


def drawn(name: str, **more: Json) -> Mapping[str, Json]:
    """What the toxic draws, made sure to strike the first EndTxn or Produce."""
    chosen = dict(TOXICS[name].draw(SHAPE, Random(7)))
    apis: Mapping[str, Json] = {"apis": ["EndTxn", "Produce"]} if "apis" in chosen else {}
    return {**chosen, **{key: value for key, value in SURE.items() if key in chosen}, **apis, **more}


def test_every_toxic_of_frames_is_one_rule() -> None:
    assert {name for name, toxic in find_toxics().items() if toxic.power is Power.FRAMES} == set(TOXICS)


@pytest.mark.parametrize(
    ("name", "arrived", "answered"),
    [("lost-request", [], False), ("lost-response", [1], False), ("repeat-request", [1, 1], True)],
)
@pytest.mark.parametrize("hang_up", [True, False])
def test_messages_are_lost_or_repeated(
    name: str, arrived: list[int], answered: bool, hang_up: bool, pair: GatePair
) -> None:
    client = pair.call()
    with TOXICS[name].strike(target_of(pair), drawn(name, hang_up=hang_up)) as strikes:
        client.ask(1, end(), 3)
        if answered:
            assert client.answer() == (1, 0)
        elif hang_up:
            assert client.answer() is None
        else:
            client.ask(2, init(), 4)
            assert client.answer() == (2, 0), "the connection stays, and nothing comes before"
    assert strikes.struck == 1
    wait.until(lambda: len(pair.broker.asked) >= len(arrived), what="the request", timeout_seconds=PATIENCE)
    assert [head.api for head in pair.broker.asked][: len(arrived)] == ["EndTxn"] * len(arrived)


@pytest.mark.parametrize("name", ["late-produce", "late-end-txn"])
def test_a_late_request_waits_for_the_other_one(name: str, pair: GatePair) -> None:
    late, client = pair.call(), pair.call()
    first, then = (produce(), end()) if name == "late-produce" else (end(), produce())
    versions = {"Produce": 9, "EndTxn": 3}
    pair.gate.watch("late")
    with TOXICS[name].strike(target_of(pair), drawn(name, at_most_ms=60_000, after_ms=1)) as strikes:
        late.ask(1, first, versions[first.api], client_id="late")
        wait.until(lambda: len(pair.gate.frames("late")) == 1, what="the late request", timeout_seconds=PATIENCE)
        client.ask(2, then, versions[then.api])
        assert client.answer() == (2, 0)
        assert late.answer() == (1, 0)
        assert pair.broker.correlations == [2, 1]
    pair.gate.unwatch("late")
    assert strikes.struck == 1


def test_an_answer_to_a_leader_waits_until_the_transaction_has_ended(pair: GatePair) -> None:
    leader, client = pair.call(), pair.call()
    with TOXICS["late-verification"].strike(
        target_of(pair), drawn("late-verification", every=1, at_most_ms=60_000, after_ms=1)
    ) as strikes:
        leader.ask(1, add(verify_only=True), 4)
        wait.until(lambda: pair.holding("late-verification") == 1, what="the held answer", timeout_seconds=PATIENCE)
        client.ask(2, init(), 4)
        assert client.answer() == (2, 0)
        assert select([leader.connected], [], [], 0) == ([], [], [])
        client.ask(3, end(), 3)
        assert client.answer() == (3, 0)
        assert leader.answer() == (1, 0)
    assert strikes.struck == 1


def test_requests_that_cannot_be_decoded_are_reported_with_the_count(pair: GatePair) -> None:
    client = pair.call()
    with TOXICS["late-end-txn"].strike(target_of(pair), drawn("late-end-txn")) as strikes:
        client.connected.sendall(struct.pack(">ihhih", 12, 26, 3, 9, -1) + b"\0\xff")
        wait.until(lambda: pair.broker.correlations == [9], what="the request", timeout_seconds=PATIENCE)
    assert strikes.struck == 0
    assert strikes.how == "EndTxn requests held; passed because they could not be decoded: 1"


@pytest.mark.parametrize("name", TOXICS)
def test_without_proxies_a_toxic_is_powerless(name: str, pair: GatePair) -> None:
    with (
        pytest.raises(Powerless, match="goes through"),
        TOXICS[name].strike(target_of(pair, proxies=False), drawn(name)),
    ):
        pass
