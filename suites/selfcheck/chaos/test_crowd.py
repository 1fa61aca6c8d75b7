"""A crowd: what its habits bring about, and what its account says of it."""

import asyncio
import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event, current_thread

import pytest

from harness.chaos.plan.crowd import HABITS, LARGEST_PAYLOAD, SEGMENT_MS, Crowd
from harness.chaos.play.crowd_account import CrowdAccount
from harness.chaos.play.fault_runner import run_faults
from harness.chaos.play.gathering import Gathering
from harness.evidence.history.operation import FaultWindow, Outcome
from harness.faults.toxic import Power
from suites.selfcheck.chaos.test_schedule import FakeToxic, fault_target, planned_fault
from suites.selfcheck.fixtures.kfake_crowd import kfake_brokers, play_until_committed
from suites.selfcheck.fixtures.kfake_server import require_kfake

HERE, THERE = ("t", 0), ("t", 1)
KEY = "of-one-key"


def test_the_account_knows_how_many_were_open_on_one_partition_at_once() -> None:
    account = CrowdAccount()
    account.opened([HERE, THERE])
    account.opened([HERE])
    account.closed([HERE, THERE], records=2, seconds=0.1, ended=True)
    account.opened([HERE])
    assert (account.most_open, account.most_open_on) == (2, "t-0")


def test_only_what_was_ended_has_outlived_a_segment_and_only_what_nearly_fills_a_batch_is_near_the_limit() -> None:
    account = CrowdAccount()
    long = SEGMENT_MS / 1000 + 0.1
    account.opened([HERE])
    account.closed([HERE], records=9, seconds=long, ended=False)
    account.opened([HERE])
    account.closed([HERE], records=3, seconds=long, ended=True)
    account.written(["x" * LARGEST_PAYLOAD, "x"])
    assert (account.outlived, account.longest, account.near_limit) == (1, 3, 1)


def test_the_account_knows_how_much_was_committed_of_late() -> None:
    account = CrowdAccount()
    account.commits.append(time.monotonic() - 10)
    account.committed()
    assert account.has_committed(1, seconds=3)
    assert not account.has_committed(2, seconds=3)
    assert account.has_committed(2, seconds=60)
    assert not account.has_committed(3, seconds=60)


def test_a_fault_waits_for_traffic_where_no_other_one_is_on() -> None:
    asked, lasting = list[int](), FakeToxic(name="a", power=Power.NETWORK)

    class SecondComesWhileTheFirstIsOn(Event):
        def wait(self, timeout: float | None = None) -> bool:
            if current_thread().name == "b":
                assert lasting.entered.wait(10.0)
            return super().wait(timeout)

    def is_at_work() -> bool:
        asked.append(1)
        return len(asked) > 1

    stop = SecondComesWhileTheFirstIsOn()
    second = FakeToxic(name="b", power=Power.FRAMES, entering=stop.set)
    planned = [planned_fault(lasting, duration_ms=3_600_000), planned_fault(second)]
    windows = list[FaultWindow]()
    run_faults(planned, fault_target(), stop, windows.append, is_at_work=is_at_work)
    assert sorted(window.name for window in windows if window.struck) == ["a", "b"]
    assert len(asked) == 2, "the second one waited for traffic though the first one was on"


def test_a_fault_strikes_at_last_also_where_nobody_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.chaos.play.fault_runner.TRAFFIC_SECONDS", 0.05)
    windows = list[FaultWindow]()
    toxic = FakeToxic(name="a", power=Power.NETWORK)
    run_faults([planned_fault(toxic)], fault_target(), Event(), windows.append, is_at_work=lambda: False)
    assert windows[0].struck


def test_transactions_wait_until_all_are_there_again_and_again() -> None:
    async def gathered() -> list[int]:
        over = asyncio.Event()
        over.set()  # nobody spreads
        gathering, came, seen = Gathering(3, over), Counter[int](), []

        async def come(turn: int) -> None:
            came[turn] += 1
            await gathering.wait(Random(1))
            seen.append(came[turn])

        for turn in range(2):
            await asyncio.gather(*(come(turn) for _ in range(3)))
        return seen

    assert asyncio.run(gathered()) == [3] * 6


def test_one_that_waits_for_others_who_never_come_goes_on() -> None:
    async def waited() -> float:
        over, loop = asyncio.Event(), asyncio.get_running_loop()
        over.set()
        began = loop.time()
        await Gathering(2, over).wait(Random(1))
        return loop.time() - began

    assert 1.5 < asyncio.run(waited()) < 10


def test_a_crowd_that_gathers_has_many_transactions_open_on_one_partition(tmp_path: Path) -> None:
    require_kfake()
    with kfake_brokers() as brokers:
        crowd = brokers.crowd(Crowd(seats=20, together=(15,), per_second=2_000), tmp_path, seed=1)
        play_until_committed(crowd, 900)
    facts = crowd.facts()
    assert facts["seats"] == 320
    assert account_of(facts, "most_open") >= 60
    assert account_of(facts, "most_in_flight") == 5
    assert account_of(facts, "transactional_ids") >= 320
    assert outcomes(tmp_path)["commit", "done"] == facts["committed"]


def test_a_transaction_of_one_key_has_one_partition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_kfake()
    monkeypatch.setattr("harness.chaos.play.round_crowd.drawn_habits", lambda _: (KEY, HABITS[KEY][1]))
    with kfake_brokers() as brokers:
        crowd = brokers.crowd(Crowd(seats=8, together=(0,)), tmp_path)
        play_until_committed(crowd, 100)
    partitions, records = dict[int, set[int]](), Counter[int]()
    for line in map(json.loads, (tmp_path / "operations.jsonl").read_text().splitlines()):
        if line["verb"] == "produce":
            partitions.setdefault(line["txn"], set()).add(line["partition"])
            records[line["txn"]] += 1
    assert {len(each) for each in partitions.values()} == {1}
    assert max(records.values()) > 1
    assert len({each for several in partitions.values() for each in several}) > 1


def test_an_application_that_is_started_anew_asks_again_for_the_same_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_kfake()
    habits = replace(HABITS["started-anew"][1], started_anew=0.6)
    monkeypatch.setattr("harness.chaos.play.round_crowd.drawn_habits", lambda _: ("started-anew", habits))
    with kfake_brokers() as brokers:
        crowd = brokers.crowd(Crowd(seats=8, together=(0,)), tmp_path)
        play_until_committed(crowd, 60)
    assert account_of(crowd.facts(), "transactional_ids") == 8
    found = outcomes(tmp_path)
    assert found["init", "done"] > 16
    left_open = found["begin", "done"] - sum(
        found[verb, each.value] for verb in ("commit", "abort") for each in Outcome
    )
    assert left_open > 4

    idle = idle_ms_after_init(tmp_path)
    assert sum(each is None for each in idle) > crowd.crowd.seats, "more than the last ones were started for nothing"
    assert 0 < sum(each is not None and each > 20 for each in idle) < len(idle)


def idle_ms_after_init(folder: Path) -> list[float | None]:
    """Of each producer that got its producer id, until it began a transaction; None where it never did."""
    ready, began = dict[str, float](), dict[str, float]()
    for line in map(json.loads, (folder / "operations.jsonl").read_text().splitlines()):
        if (line["verb"], line["outcome"]) == ("init", "done"):
            ready[line["actor"]] = line["ended"]
        elif line["verb"] == "begin":
            began.setdefault(line["actor"], line["started"])
    return [began[actor] - at if actor in began else None for actor, at in ready.items()]


def account_of(facts: object, name: str) -> int:
    assert isinstance(facts, dict)
    return int(facts[name])


def outcomes(folder: Path) -> Counter[tuple[str, str]]:
    """How often each verb had each outcome."""
    lines = (folder / "operations.jsonl").read_text().splitlines()
    return Counter((line["verb"], line["outcome"]) for line in map(json.loads, lines))
