"""Actors, workloads and options of chaos, offline, with fake clients."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event

import pytest

from harness.base.clock import RunClock
from harness.base.seed import Seed
from harness.base.user_error import UserError
from harness.chaos.plan.chaos_options import LONGEST_SECONDS, OVERHEAD_SECONDS, ChaosOptions, parse_seconds
from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.plan.scenario import Role, Scenario, Workload
from harness.chaos.plan.scenario_catalogue import select_scenarios
from harness.chaos.play.actor import Actor
from harness.clients.client import CallResult
from harness.clients.recording_client import RecordingClient
from harness.cluster.run_options import RunOptions
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import MalformedEvent, Operation, Outcome, Value
from suites.chaos.workloads.interleave import Interleave
from suites.chaos.workloads.relay import Relay
from suites.chaos.workloads.silence import Silence
from suites.chaos.workloads.transfer import Transfer
from suites.chaos.workloads.zombies import Zombies
from suites.selfcheck.fixtures.fake_client import FakeClient

UNSURE = CallResult(outcome=Outcome.UNSURE, error=None, reason="no answer")
REFUSED = CallResult(outcome=Outcome.REFUSED, error=47, reason="fenced")
WORKLOADS: Sequence[Workload] = (Transfer(), Interleave(), Zombies(), Silence(), Relay())


class Countdown(Event):
    """A stop event that is set after it was asked so many times, without any waiting."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self.left = questions

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0

    def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002
        return self.left < 0


@dataclass(slots=True)
class RecordedActors:
    """Actors with fake clients, and the history that they record."""

    folder: Path
    clients: list[FakeClient] = field(default_factory=list)
    make_client: Callable[[], FakeClient] = FakeClient
    history_journal: HistoryJournal = field(init=False)

    def __post_init__(self) -> None:
        self.history_journal = HistoryJournal(self.folder)

    def actor(self, role: Role, topics: dict[str, str], stop: Event) -> Actor:
        return Actor(role=role.name, index=1, open_client=lambda name: self.open(role, name), topics=topics, stop=stop)

    def open(self, role: Role, name: str) -> RecordingClient:
        client = self.make_client()
        self.clients.append(client)
        return RecordingClient(
            client=client,
            actor=name,
            transactional_id=role.transactional_id,
            clock=RunClock(),
            history_journal=self.history_journal,
            group=role.group,
        )

    def operations(self) -> list[dict[str, object]]:
        self.history_journal.close()
        return [json.loads(line) for line in (self.folder / "operations.jsonl").read_text().splitlines()]

    def outcomes(self) -> list[tuple[object, object, object]]:
        return [(line["actor"], line["verb"], line["outcome"]) for line in self.operations()]


def nothing(_actor: Actor, _draw: Random) -> None:
    """For a role that a test runs by hand."""


ROLE = Role(name="p", transactional_id="id", run=nothing)
ONE = [RecordToWrite(topic="t", partition=0)]


def test_an_unsure_write_retires_the_actor_and_a_successor_with_a_new_name_goes_on(tmp_path: Path) -> None:
    clients = iter([FakeClient({"produce": [UNSURE]}), FakeClient()])
    recorded = RecordedActors(tmp_path, make_client=lambda: next(clients))
    actor = recorded.actor(ROLE, {"t": "t"}, Event())
    assert not actor.transact(ONE)
    assert actor.transact(ONE)
    first = [("p", verb, "done") for verb in ("init", "begin")] + [("p", "produce", "unsure")]
    rest = [("p", "abort", "done"), ("p", "close", "done")]
    second = [("p.2", verb, "done") for verb in ("init", "begin", "produce", "commit")]
    assert recorded.outcomes() == first + rest + second


def test_an_unsure_commit_retires_the_actor(tmp_path: Path) -> None:
    clients = iter([FakeClient({"commit": [UNSURE]}), FakeClient()])
    recorded = RecordedActors(tmp_path, make_client=lambda: next(clients))
    actor = recorded.actor(ROLE, {"t": "t"}, Event())
    assert not actor.transact(ONE)
    assert [line["actor"] for line in recorded.operations()][-2:] == ["p", "p"]
    assert actor.client.actor == "p.2"


def test_a_refused_init_gives_way_to_a_successor_and_begins_nothing(tmp_path: Path) -> None:
    recorded = RecordedActors(tmp_path, make_client=lambda: FakeClient({"init": [REFUSED]}))
    actor = recorded.actor(ROLE, {"t": "t"}, Event())
    assert not actor.begin(1)
    assert recorded.outcomes() == [("p", "init", "refused"), ("p", "close", "done")]


def test_every_value_of_a_role_is_unique_and_names_its_transaction(tmp_path: Path) -> None:
    recorded = RecordedActors(tmp_path)
    actor = recorded.actor(ROLE, {"t": "t"}, Event())
    for _ in range(3):
        actor.transact(
            [RecordToWrite(topic="t", partition=0, payload="a"), RecordToWrite(topic="t", partition=1, payload="b")]
        )
    recorded.history_journal.close()
    written = [Value.parse(text) for client in recorded.clients for _, _, text in client.wrote]
    assert len({(value.txn, value.ordinal) for value in written if value}) == 6
    assert {value.size for value in written if value} == {2}


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_a_workload_draws_its_intents_from_the_seed_alone(workload: Workload, tmp_path: Path) -> None:
    def intents(seed: int, folder: str) -> list[tuple[object, ...]]:
        recorded = RecordedActors(tmp_path / folder)
        for role in workload.roles():
            actor = recorded.actor(role, {topic: topic for topic in workload.topics}, Countdown(40))
            role.run(actor, Seed(seed).stream(role.name))
        kept = ("actor", "verb", "topic", "partition", "payload", "size", "txn")
        return [tuple(line[name] for name in kept) for line in recorded.operations()]

    once = intents(7, "once")
    assert any(line[1] == "produce" for line in once)
    assert once == intents(7, "again")
    assert once != intents(8, "other")


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_the_topics_that_a_workload_writes_to_are_those_that_it_names(workload: Workload, tmp_path: Path) -> None:
    recorded = RecordedActors(tmp_path)
    for role in workload.roles():
        actor = recorded.actor(role, {topic: topic for topic in workload.topics}, Countdown(30))
        role.run(actor, Seed(3).stream(role.name))
    recorded.history_journal.close()
    for client in recorded.clients:
        for topic, partition, _ in client.wrote:
            assert partition < workload.topics[topic]


def test_the_amounts_of_each_transfer_sum_to_nothing(tmp_path: Path) -> None:
    recorded = RecordedActors(tmp_path)
    role = Transfer().roles()[0]
    role.run(recorded.actor(role, {"accounts": "accounts"}, Countdown(50)), Seed(5).stream("x"))
    sums: dict[object, int] = {}
    for line in recorded.operations():
        if line["verb"] == "produce":
            sums[line["txn"]] = sums.get(line["txn"], 0) + int(str(line["payload"]).split(":")[2])
    assert len(sums) > 10
    assert set(sums.values()) == {0}


def operation(**changes: object) -> Operation:
    """A commit by hand."""
    fields = {"number": 1, "actor": "p", "client": "c", "verb": "commit", "started": 1.0, "ended": 2.0, "txn": 1}
    return Operation(**{**fields, "outcome": Outcome.DONE, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [{"ended": 0.5}, {"verb": "flush"}, {"txn": None}, {"outcome": Outcome.REFUSED}],
    ids=["ends before it starts", "unknown verb", "no transaction", "refused without a reason"],
)
def test_malformed_evidence_is_refused_where_it_is_made(changes: dict[str, object]) -> None:
    assert operation().txn == 1
    with pytest.raises(MalformedEvent):
        operation(**changes)


def options(**changes: float) -> ChaosOptions:
    """Options by hand."""
    run = RunOptions(target="kafka:4.3.1", seed=Seed(40), folder=Path("x"))
    return ChaosOptions(run=run, **changes)  # type: ignore[arg-type]


def scenario(name: str, length: float = 20.0) -> Scenario:
    """A scenario by hand."""
    return Scenario(name=name, title="a title", workload=Transfer(), clients=("wire-v1",), seconds=length)


def test_a_small_budget_shortens_rounds_and_a_large_one_repeats_them() -> None:
    assert options(budget_seconds=100.0).length(scenario("a"), of=4) == 100 / 4 - OVERHEAD_SECONDS
    assert options(budget_seconds=10.0).length(scenario("a"), of=4) == 8.0
    assert options(budget_seconds=4 * 54.0).length(scenario("a"), of=4) == 20.0
    assert options(budget_seconds=4 * 108.0).length(scenario("a"), of=4) == 108 / 2 - OVERHEAD_SECONDS
    assert options(budget_seconds=3600.0).length(scenario("a"), of=4) == LONGEST_SECONDS
    assert options(budget_seconds=200.0).passes([20.0, 20.0]) == 6
    assert options().passes([20.0, 20.0]) == 1


def test_a_round_is_run_again_by_its_scenario_its_seed_and_its_length() -> None:
    seeds = options().seeds()
    assert [next(seeds).value for _ in range(3)] == [40, 41, 42]
    again = options().command(scenario("relay"), Seed(41), 12.5)
    assert again == "fencepost chaos kafka:4.3.1 --scenarios relay --seed 41 --seconds 12.5 --backend auto"


def test_an_unknown_scenario_is_answered_with_those_that_there_are() -> None:
    there = [scenario("relay"), scenario("silence")]
    assert [one.name for one in select_scenarios("silence, relay", there)] == ["silence", "relay"]
    with pytest.raises(UserError, match="there are relay, silence"):
        select_scenarios("relais", there)


@pytest.mark.parametrize("text", ["", "ten", "0", "-5m", "5 years"])
def test_a_length_of_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="write 90s, 10m or 2h"):
        parse_seconds(text)
