"""One contract for every client adapter, on a real cluster: what each verb does, and the result that it gives.

Needs Java, and once Maven and Go. Starts one cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Thread

import pytest

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.clients.client import Adapter, CallResult, Client, ClientOptions
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.cluster.cluster import Cluster, Links
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.evidence.history.operation import Outcome, Value
from harness.kafka.any_broker import AnyBroker
from harness.kafka.coordinators import Coordinators
from harness.kafka.topics import Topics
from harness.wire.requests.groups.find_coordinator import GROUP
from harness.wire.wire_client import WireClient
from suites.selfcheck.fixtures.live_clients import observer, process_cluster

pytestmark = pytest.mark.live

VERSION = "4.3.1"
REQUEST_MS = 4_000
PARTITIONS = 3
NUMBERS = count(1)


@dataclass(slots=True)
class AdapterUnderTest:
    """One adapter on a running cluster."""

    cluster: Cluster
    observer: WireClient
    adapter: Adapter

    def topic(self) -> str:
        """A fresh topic."""
        topics = Topics(AnyBroker(self.observer, self.cluster.topology.brokers))
        made = topics.create(f"topic-{next(NUMBERS)}", partitions=PARTITIONS, replicas=3)
        topics.await_served(made, range(PARTITIONS))
        return made.name

    def client(
        self, transactional_id: str | None = None, *, group: str | None = None, request_ms: int = REQUEST_MS
    ) -> Client:
        """A fresh client on the victim's lane."""
        number = next(NUMBERS)
        addresses = self.cluster.topology.lanes["victim"]
        return self.adapter.open(
            ClientOptions(
                actor=f"actor-{number}",
                lane="victim",
                bootstrap={node: str(at) for node, at in addresses.items()},
                transactional_id=transactional_id or f"id-{number}",
                request_ms=request_ms,
                group=group,
            )
        )

    def read(self, topic: str, wanted: int) -> list[str]:
        """What a new read_committed group reads of a topic: until ``wanted`` records came, and one poll more."""
        reader = self.client(group=f"group-{next(NUMBERS)}")
        values: list[str] = []

        def enough() -> bool:
            values.extend(record.value for record in reader.poll(200).records)
            return len(values) >= wanted

        try:
            assert reader.subscribe([topic]).done
            wait.until(enough, what=f"{wanted} records", timeout_seconds=10)
            values.extend(record.value for record in reader.poll(300).records)
        finally:
            reader.close()
        return sorted(values)

    @property
    def links(self) -> Links:
        """The proxies."""
        assert self.cluster.links is not None
        return self.cluster.links


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all adapters."""
    with closing(process_cluster(VERSION, tmp_path_factory.mktemp("clients"))) as running:
        with closing(observer(running)) as client:  # makes the topic of groups, for which no client should have to wait
            Coordinators(AnyBroker(client, running.topology.brokers)).of("any group", GROUP)
        yield running


@pytest.fixture(params=sorted(ADAPTERS))
def subject(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[AdapterUnderTest]:
    """Each adapter in turn; afterwards no toxic is left on the proxies."""
    adapter = ADAPTERS[request.param]
    with closing(observer(cluster)) as client:
        assert adapter.lacking(client.offered(1)) is None
        yield AdapterUnderTest(cluster, client, adapter)
        assert cluster.links is not None
        cluster.links.reset()


def value(ordinal: int = 0, size: int = 1) -> Value:
    """A value of a transaction of its own."""
    return Value(txn=next(NUMBERS), ordinal=ordinal, size=size, payload="x")


def begun(subject: AdapterUnderTest, transactional_id: str | None = None) -> Client:
    """A client with a transaction begun."""
    client = subject.client(transactional_id)
    assert client.init().done
    assert client.begin().done
    return client


def wrote(client: Client, topic: str, partitions: Sequence[int]) -> list[str]:
    """One record to each partition, all acknowledged."""
    values = [value() for _ in partitions]
    for partition, each in zip(partitions, values, strict=True):
        result = client.produce(topic, partition, each)
        assert result.done, result
        assert result.offset is not None
    return [str(each) for each in values]


def test_a_committed_transaction_is_visible_and_an_aborted_one_is_not(subject: AdapterUnderTest) -> None:
    topic, client = subject.topic(), begun(subject)
    first = wrote(client, topic, [0, 1, 1])
    assert client.commit().done
    assert client.begin().done
    wrote(client, topic, [1, 2])
    assert client.abort().done
    assert client.begin().done
    last = wrote(client, topic, [2])
    assert client.commit().done
    client.close()
    assert subject.read(topic, 4) == sorted([*first, *last])


def test_a_client_knows_its_producer_id_and_epoch(subject: AdapterUnderTest) -> None:
    topic, client = subject.topic(), subject.client()
    result = client.init()
    assert result.done
    assert result.producer_id is not None
    assert result.epoch == 0
    client.begin()
    wrote(client, topic, [0])
    bumps = subject.adapter.protocol == "v2"
    assert (client.commit().epoch, client.kind) == (1 if bumps else 0, subject.adapter.kind)
    assert client.protocol == subject.adapter.protocol
    assert bumps or client.kind != "wire-v2"
    client.close()


def test_an_empty_transaction_can_be_committed_and_aborted(subject: AdapterUnderTest) -> None:
    client = begun(subject)
    assert client.commit().done
    assert client.begin().done
    assert client.abort().done
    client.close()


@pytest.mark.parametrize("verb", ["produce", "commit"])
def test_a_newer_producer_of_the_same_id_fences_the_older(subject: AdapterUnderTest, verb: str) -> None:
    topic, shared = subject.topic(), f"shared-{next(NUMBERS)}"
    older = begun(subject, shared)
    wrote(older, topic, [0])
    newer = begun(subject, shared)
    fenced = older.produce(topic, 1, value()) if verb == "produce" else older.commit()
    assert fenced.outcome is Outcome.REFUSED, fenced
    assert fenced.error in (KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED), fenced
    assert fenced.reason
    kept = wrote(newer, topic, [0])
    assert newer.commit().done
    older.close()
    newer.close()
    assert subject.read(topic, 1) == kept


def test_a_produce_whose_answer_never_came_is_unsure(subject: AdapterUnderTest) -> None:
    topic, client = subject.topic(), subject.client()
    assert client.init().done
    assert client.begin().done
    kept = wrote(client, topic, [0, 1, 2])
    with_held_lanes(subject, lambda: unsure(client.produce(topic, 0, value())))
    client.close()
    successor = subject.client()
    assert successor.init().done
    assert kept
    successor.close()


def test_an_end_whose_answer_never_came_is_unsure(subject: AdapterUnderTest) -> None:
    topic, client = subject.topic(), subject.client()
    assert client.init().done
    assert client.begin().done
    wrote(client, topic, [0])
    with_held_lanes(subject, lambda: unsure(client.commit()))
    client.close()


def unsure(result: CallResult) -> None:
    """It may or may not have happened."""
    assert result.outcome is Outcome.UNSURE, result
    assert result.reason


def with_held_lanes(subject: AdapterUnderTest, act: Callable[[], None]) -> None:
    """Act while no request of the victim's lane arrives."""
    proxies = [f"lane-victim-{node}" for node in subject.cluster.topology.brokers]
    for proxy in proxies:
        subject.links.add_toxic(
            proxy, kind="latency", direction="upstream", attributes={"latency": 3_600_000}, name="hold"
        )
    try:
        act()
    finally:
        for proxy in proxies:
            subject.links.remove_toxic(proxy, "hold")


def test_consumed_offsets_commit_with_the_transaction_and_only_then(subject: AdapterUnderTest) -> None:
    topic, outputs, group = subject.topic(), subject.topic(), f"group-{next(NUMBERS)}"
    feeder = begun(subject)
    fed = wrote(feeder, topic, [0, 1, 2])
    assert feeder.commit().done
    feeder.close()
    for commit in (False, True, True):
        taken = relay(subject, topic, outputs, group, len(fed), commit=commit)
        assert taken == (sorted(fed) if fed else [])
        fed = [] if commit else fed
    assert len(subject.read(outputs, 3)) == 3


def relay(subject: AdapterUnderTest, topic: str, outputs: str, group: str, wanted: int, *, commit: bool) -> list[str]:
    """A new member of the group writes all that it reads to ``outputs`` in one transaction; the values.

    :param wanted: How many there must be; of none it is seen that none come for two seconds.
    """
    member = subject.client(group=group)
    assert member.init().done
    assert member.subscribe([topic]).done
    taken: list[DeliveredRecord] = []

    def read() -> bool:
        polled = member.poll(300)
        assert polled.done, polled
        taken.extend(polled.records)
        return bool(wanted) and len(taken) >= wanted

    if wanted:
        wait.until(read, what=f"{wanted} records", timeout_seconds=20)
    else:
        wait.elapsed_ms_until(read, timeout_seconds=2)
    assert member.begin().done
    for source, partition, offset, _ in taken:
        wrote(member, outputs, [partition])
        sent = member.send_offsets(source, partition, offset + 1)
        assert sent.done, sent
    assert (member.commit() if commit else member.abort()).done
    member.close()
    return sorted(record.value for record in taken)


def test_members_share_the_partitions_and_a_lone_one_has_all_again(subject: AdapterUnderTest) -> None:
    topic, group = subject.topic(), f"group-{next(NUMBERS)}"
    first, second = subject.client(group=group), subject.client(group=group)
    assert first.subscribe([topic]).done
    joining: list[CallResult] = []
    thread = Thread(target=lambda: joining.append(second.subscribe([topic])))
    thread.start()

    def joined() -> bool:
        first.poll(50)
        return bool(joining)

    wait.until(joined, what="the second member", timeout_seconds=10)
    thread.join()
    assert joining[0].done
    feeder = begun(subject)
    fed = wrote(feeder, topic, [0, 1, 2])
    assert feeder.commit().done
    taken = both(first, second, len(fed))
    assert sorted(taken[0] + taken[1]) == sorted(fed)
    assert all(taken)
    for client in (first, second, feeder):
        client.close()


def both(first: Client, second: Client, wanted: int) -> tuple[list[str], list[str]]:
    """What each of two members reads until all is read."""
    taken: tuple[list[str], list[str]] = ([], [])

    def all_taken() -> bool:
        for client, own in zip((first, second), taken, strict=True):
            own.extend(record.value for record in client.poll(100).records)
        return len(taken[0]) + len(taken[1]) >= wanted

    wait.until(all_taken, what="all records", timeout_seconds=10)
    return taken


def test_closing_twice_is_no_error_and_leaves_the_transaction_open(subject: AdapterUnderTest) -> None:
    topic, shared = subject.topic(), f"shared-{next(NUMBERS)}"
    client = begun(subject, shared)
    wrote(client, topic, [0])
    assert client.close().done
    assert client.close().done
    newer = begun(subject, shared)  # init ends what the older one left
    kept = wrote(newer, topic, [0])
    assert newer.commit().done
    newer.close()
    assert subject.read(topic, 1) == kept


def test_a_client_that_no_broker_answers_gives_a_result_in_time(subject: AdapterUnderTest, tmp_path: Path) -> None:
    client = subject.client(request_ms=1_500, group=f"group-{tmp_path.name}")
    results: list[CallResult] = []

    def act() -> None:
        results.append(client.init())
        results.append(client.subscribe(["absent"]))
        results.append(client.close())

    with_held_lanes(subject, act)
    assert [result.done for result in results] == [False, False, True]
