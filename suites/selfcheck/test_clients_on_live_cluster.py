"""One contract for every client adapter, on a real cluster: what each verb does, and what it says of it.

Needs Java, and once Maven and Go. Starts one cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Thread

import pytest

from harness import wait
from harness.clients.adapters import ADAPTERS
from harness.clients.port import Adapter, Answer, Client, ClientOptions
from harness.clock import RunClock
from harness.cluster.opening import open_cluster
from harness.cluster.port import Cluster, ClusterOptions, Links
from harness.cluster.target import Released
from harness.history.operation import Outcome, Value
from harness.history.recorder import Unrecorded
from harness.wire.client import WireClient
from harness.wire.verbs.create_topic import CreateTopic

pytestmark = pytest.mark.live

VERSION = "4.3.1"
REQUEST_MS = 4_000
PARTITIONS = 3
NUMBERS = count(1)


@dataclass(slots=True)
class Stage:
    """A cluster, and what a test needs of it."""

    cluster: Cluster
    observer: WireClient
    adapter: Adapter

    def topic(self) -> str:
        """A fresh topic."""
        name = f"topic-{next(NUMBERS)}"
        made = self.observer.call(1, CreateTopic(name=name, partitions=PARTITIONS, replicas=3)).result
        assert made.error == 0
        return name

    def client(self, transactional_id: str | None = None, *, group: str | None = None, request_ms: int = 0) -> Client:
        """A fresh client on the victim's lane."""
        number = next(NUMBERS)
        addresses = self.cluster.topology.lanes["victim"]
        return self.adapter.open(
            ClientOptions(
                actor=f"actor-{number}",
                lane="victim",
                bootstrap={node: str(at) for node, at in addresses.items()},
                transactional_id=transactional_id or f"id-{number}",
                request_ms=request_ms or REQUEST_MS,
                group=group,
            )
        )

    def read(self, topic: str, wanted: int) -> list[str]:
        """What a fresh read_committed member is shown of a topic: until ``wanted`` came, and once more."""
        reader = self.client(group=f"group-{next(NUMBERS)}")
        shown: list[str] = []

        def enough() -> bool:
            shown.extend(value for _, _, _, value in reader.poll(200).records)
            return len(shown) >= wanted

        try:
            assert reader.subscribe([topic]).done
            wait.until(enough, what=f"{wanted} records", within=10)
            shown.extend(value for _, _, _, value in reader.poll(300).records)
        finally:
            reader.close()
        return sorted(shown)

    @property
    def links(self) -> Links:
        """The proxies."""
        assert self.cluster.links is not None
        return self.cluster.links


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all adapters."""
    running = open_cluster(
        Released(VERSION),
        backend="process",
        options=ClusterOptions(),
        run_dir=tmp_path_factory.mktemp("clients"),
        progress=lambda _: None,
    )
    yield running
    running.close()


@pytest.fixture(params=sorted(ADAPTERS))
def stage(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Stage]:
    """The cluster as one adapter's clients meet it; afterwards nothing disturbs it."""
    observer = WireClient(
        actor="observer",
        lane="observer",
        addresses=cluster.topology.lanes["observer"],
        clock=RunClock(),
        recorder=Unrecorded(),
    )
    adapter = ADAPTERS[request.param]
    assert adapter.lacking(observer.offered(1)) is None
    yield Stage(cluster, observer, adapter)
    assert cluster.links is not None
    cluster.links.reset()
    observer.close()


def value(ordinal: int = 0, size: int = 1) -> Value:
    """A value of a transaction of its own."""
    return Value(txn=next(NUMBERS), ordinal=ordinal, size=size, payload="x")


def begun(stage: Stage, transactional_id: str | None = None) -> Client:
    """A client with a transaction begun."""
    client = stage.client(transactional_id)
    assert client.init().done
    assert client.begin().done
    return client


def wrote(client: Client, topic: str, partitions: Sequence[int]) -> list[str]:
    """One record to each partition, all acknowledged."""
    values = [value() for _ in partitions]
    for partition, each in zip(partitions, values, strict=True):
        answer = client.produce(topic, partition, each)
        assert answer.done, answer
        assert answer.offset is not None
    return [str(each) for each in values]


def test_a_committed_transaction_is_visible_and_an_aborted_one_is_not(stage: Stage) -> None:
    topic, client = stage.topic(), begun(stage)
    first = wrote(client, topic, [0, 1, 1])
    assert client.commit().done
    assert client.begin().done
    wrote(client, topic, [1, 2])
    assert client.abort().done
    assert client.begin().done
    last = wrote(client, topic, [2])
    assert client.commit().done
    client.close()
    assert stage.read(topic, 4) == sorted([*first, *last])


def test_a_client_knows_its_producer_id_and_epoch(stage: Stage) -> None:
    topic, client = stage.topic(), stage.client()
    told = client.init()
    assert told.done
    assert told.producer_id is not None
    assert told.epoch == 0
    client.begin()
    wrote(client, topic, [0])
    bumps = stage.adapter.kind == "wire-v2"
    assert (client.commit().epoch, client.kind) == (1 if bumps else 0, stage.adapter.kind)
    client.close()


def test_an_empty_transaction_can_be_committed_and_aborted(stage: Stage) -> None:
    client = begun(stage)
    assert client.commit().done
    assert client.begin().done
    assert client.abort().done
    client.close()


@pytest.mark.parametrize("verb", ["produce", "commit"])
def test_a_newer_producer_of_the_same_id_fences_the_older(stage: Stage, verb: str) -> None:
    topic, shared = stage.topic(), f"shared-{next(NUMBERS)}"
    older = begun(stage, shared)
    wrote(older, topic, [0])
    newer = begun(stage, shared)
    fenced = older.produce(topic, 1, value()) if verb == "produce" else older.commit()
    assert fenced.outcome is Outcome.REFUSED, fenced
    assert fenced.error in (47, 90), fenced
    assert fenced.reason
    kept = wrote(newer, topic, [0])
    assert newer.commit().done
    older.close()
    newer.close()
    assert stage.read(topic, 1) == kept


def test_a_write_whose_answer_never_came_is_unsure(stage: Stage) -> None:
    topic, client = stage.topic(), stage.client(request_ms=1_500)
    assert client.init().done
    assert client.begin().done
    kept = wrote(client, topic, [0, 1, 2])
    with_held_lanes(stage, lambda: unsure(client.produce(topic, 0, value())))
    client.close()
    successor = stage.client()
    assert successor.init().done
    assert kept
    successor.close()


def test_an_end_whose_answer_never_came_is_unsure(stage: Stage) -> None:
    topic, client = stage.topic(), stage.client(request_ms=1_500)
    assert client.init().done
    assert client.begin().done
    wrote(client, topic, [0])
    with_held_lanes(stage, lambda: unsure(client.commit()))
    client.close()


def unsure(answer: Answer) -> None:
    """Nobody was told."""
    assert answer.outcome is Outcome.UNSURE, answer
    assert answer.reason


def with_held_lanes(stage: Stage, act: Callable[[], None]) -> None:
    """Act while no request of the victim's lane arrives."""
    proxies = [f"lane-victim-{node}" for node in stage.cluster.topology.brokers]
    for proxy in proxies:
        stage.links.add_toxic(
            proxy, kind="latency", direction="upstream", attributes={"latency": 3_600_000}, name="hold"
        )
    try:
        act()
    finally:
        for proxy in proxies:
            stage.links.remove_toxic(proxy, "hold")


def test_consumed_offsets_commit_with_the_transaction_and_only_then(stage: Stage) -> None:
    topic, outputs, group = stage.topic(), stage.topic(), f"group-{next(NUMBERS)}"
    feeder = begun(stage)
    fed = wrote(feeder, topic, [0, 1, 2])
    assert feeder.commit().done
    feeder.close()
    for commit in (False, True, True):
        taken = relay(stage, topic, outputs, group, commit=commit)
        assert taken == (sorted(fed) if fed else [])
        fed = [] if commit else fed
    assert len(stage.read(outputs, 3)) == 3


def relay(stage: Stage, topic: str, outputs: str, group: str, *, commit: bool) -> list[str]:
    """Carry over all that a new member of the group is shown; what it took."""
    member = stage.client(group=group)
    assert member.init().done
    assert member.subscribe([topic]).done
    taken: list[tuple[str, int, int, str]] = []

    def read() -> bool:
        polled = member.poll(300)
        assert polled.answer.done, polled.answer
        taken.extend(polled.records)
        return len(taken) >= PARTITIONS

    wait.holds_after(read, within=2)
    assert member.begin().done
    for place, partition, offset, _ in taken:
        wrote(member, outputs, [partition])
        sent = member.send_offsets(place, partition, offset + 1)
        assert sent.done, sent
    assert (member.commit() if commit else member.abort()).done
    member.close()
    return sorted(record[3] for record in taken)


def test_members_share_the_partitions_and_a_lone_one_has_all_again(stage: Stage) -> None:
    topic, group = stage.topic(), f"group-{next(NUMBERS)}"
    first, second = stage.client(group=group), stage.client(group=group)
    assert first.subscribe([topic]).done
    joining: list[Answer] = []
    thread = Thread(target=lambda: joining.append(second.subscribe([topic])))
    thread.start()

    def joined() -> bool:
        first.poll(50)
        return bool(joining)

    wait.until(joined, what="the second member", within=10)
    thread.join()
    assert joining[0].done
    feeder = begun(stage)
    fed = wrote(feeder, topic, [0, 1, 2])
    assert feeder.commit().done
    taken = both(first, second, len(fed))
    assert sorted(taken[0] + taken[1]) == sorted(fed)
    assert all(taken)
    for client in (first, second, feeder):
        client.close()


def both(first: Client, second: Client, wanted: int) -> tuple[list[str], list[str]]:
    """What each of two members takes until all of it is taken."""
    taken: tuple[list[str], list[str]] = ([], [])

    def all_taken() -> bool:
        for client, own in zip((first, second), taken, strict=True):
            own.extend(record[3] for record in client.poll(100).records)
        return len(taken[0]) + len(taken[1]) >= wanted

    wait.until(all_taken, what="all records", within=10)
    return taken


def test_closing_twice_is_no_error_and_leaves_the_transaction_open(stage: Stage) -> None:
    topic, shared = stage.topic(), f"shared-{next(NUMBERS)}"
    client = begun(stage, shared)
    wrote(client, topic, [0])
    assert client.close().done
    assert client.close().done
    newer = begun(stage, shared)  # init ends what the older one left
    kept = wrote(newer, topic, [0])
    assert newer.commit().done
    newer.close()
    assert stage.read(topic, 1) == kept


def test_a_client_that_nobody_answers_says_so_within_its_bound(stage: Stage, tmp_path: Path) -> None:
    client = stage.client(request_ms=1_500, group=f"group-{tmp_path.name}")
    answers: list[Answer] = []

    def act() -> None:
        answers.append(client.init())
        answers.append(client.subscribe(["nowhere"]))
        answers.append(client.close())

    with_held_lanes(stage, act)
    assert [answer.done for answer in answers] == [False, False, True]
