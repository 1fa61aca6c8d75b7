"""Toxics of network, process and coordinator on a real cluster: each strikes, heals, heals twice, and leaves nothing.

Needs Java, and once Maven and Go. One cluster for all; small traffic runs on the victim lane the whole time, so that
a fault on any lane or link between brokers has something to strike.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random
from threading import Event, Thread

import pytest

from harness.base import wait
from harness.base.addresses import Lane
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.chaos.plan.toxic_catalogue import find_toxics
from harness.cluster.cluster import Cluster
from harness.evidence.recorder import NullRecorder
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape, Power, StrikeCount, Toxic, ToxicReach
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.lab.step_recorder import StepRecorder
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import WireError
from suites.selfcheck.fixtures.live_clients import process_cluster

pytestmark = pytest.mark.live

NAME, TOPIC, ID = "accounts", "toxics-accounts", "toxics-teller"
SHAPE = ClusterShape(lanes=("victim",), topics={NAME: 3}, transactional_ids=("teller",))
ELSEWHERE = (Power.FRAMES, Power.CLIENTS)
"""What strikes single requests, and processes of clients, has tests of its own (``test_chaos_clients``)."""
OTHER_CLUSTERS = {ToxicReach.RELEASES, ToxicReach.SETTINGS, ToxicReach.CONTROLLERS, ToxicReach.CODE}
"""What needs a cluster that was started otherwise, or rules in it, is tried in ``suites/selfcheck/faults``."""
ON_PASSING_TOPICS = ("delete-topic", "unclean-election")
"""Without an open transaction they strike nothing, so they have a test of their own below."""
TOXICS = {
    name: toxic
    for name, toxic in find_toxics().items()
    if toxic.power not in ELSEWHERE and OTHER_CLUSTERS.isdisjoint(toxic.acts_on) and name not in ON_PASSING_TOPICS
}
ON_PROXIES = [name for name, toxic in TOXICS.items() if "proxy" in toxic.draw(SHAPE, Random(0))]
BETWEEN_SECONDS = 0.01
"""Between two tries on a lane: traffic without a pause keeps both processors busy, and what is tested slow."""
BOUND_SECONDS = 60.0
"""For whatever has to happen; three restarts on a busy machine take half of it."""


@dataclass(slots=True, kw_only=True)
class Traffic:
    """Produces to every broker on the victim lane, one after the other, whatever becomes of them."""

    client: WireClient
    over: Event = field(default_factory=Event)
    tried: dict[int, int] = field(default_factory=dict)
    threads: list[Thread] = field(default_factory=list)

    def begin(self, nodes: tuple[int, ...]) -> None:
        """One thread for each broker, so that one that is silent does not stop the others."""
        self.tried.update(dict.fromkeys(nodes, 0))
        self.threads += [Thread(target=self._produce, args=(node,), daemon=True) for node in nodes]
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        """Come to the end."""
        self.over.set()
        for thread in self.threads:
            thread.join(10)
        self.client.close()

    def flows(self, times: int = 4) -> None:
        """Wait until every broker was sent something so many times more; answers may fail to come."""
        before = dict(self.tried)
        wait.until(
            lambda: all(self.tried[node] >= before[node] + times for node in before),
            what=f"{times} tries on every lane",
            timeout_seconds=30,
        )

    def _produce(self, node: int) -> None:
        batch = NewBatch(values=("traffic",), producer_id=-1, producer_epoch=-1, base_sequence=-1, transactional=False)
        part = PartitionBatch(topic=TOPIC, partition=node - 1, batch=batch, topic_id=None)
        while not self.over.is_set():
            with suppress(WireError):
                self.client.call(node, Produce(transactional_id=None, batches=(part,)), 9, timeout_seconds=0.3)
            self.tried[node] += 1
            wait.pause(BETWEEN_SECONDS)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all toxics."""
    with closing(process_cluster("4.3.1", tmp_path_factory.mktemp("toxics"))) as running:
        yield running


@pytest.fixture(scope="module")
def fault_target(cluster: Cluster) -> Iterator[FaultTarget]:
    """The cluster, with the topic that the traffic and the toxics use."""
    observer = client(cluster, "observer")
    made = FaultTarget(
        cluster=cluster, clock=RunClock(), client=observer, topics={NAME: TOPIC}, transactional_ids={"teller": ID}
    )
    made.admin.create_topic(TOPIC, {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)})
    yield made
    observer.close()


@pytest.fixture(scope="module")
def traffic(cluster: Cluster, fault_target: FaultTarget) -> Iterator[Traffic]:
    """Traffic for the whole time."""
    running = Traffic(client=client(cluster, "victim"))
    running.begin(fault_target.brokers)
    running.flows()
    yield running
    running.end()


def client(cluster: Cluster, lane: Lane) -> WireClient:
    """A client on a lane that knows already what every broker offers."""
    made = WireClient(
        actor=lane, lane=lane, addresses=cluster.topology.lanes[lane], clock=RunClock(), recorder=NullRecorder()
    )
    for node in cluster.topology.brokers:
        made.offered(node)
    return made


def struck(toxic: Toxic, fault_target: FaultTarget, chosen: Mapping[str, Json], traffic: Traffic) -> StrikeCount:
    """Strike while traffic flows, until it did what it is for; heal, and heal again."""
    strike = toxic.strike(fault_target, chosen)
    with strike as strikes:
        traffic.flows()
        wait.until(
            lambda: has_struck(toxic, fault_target, chosen, strikes),
            what=f"{toxic.name} to strike",
            timeout_seconds=BOUND_SECONDS,
        )
    strike.__exit__(None, None, None)
    return strikes


def has_struck(toxic: Toxic, fault_target: FaultTarget, chosen: Mapping[str, Json], strikes: StrikeCount) -> bool:
    """Whether the fault has done what it is for."""
    match chosen:
        case {"brokers": list(brokers)}:
            return strikes.struck == len(brokers)
        case {"broker": int(broker), "still_ms": int(still)}:
            return still < 2_500 or fault_target.dropped(broker)
        case {"broker": int(broker)} if toxic.name == "isolate-from-controller":
            return fault_target.dropped(broker)
        case _:
            return strikes.struck > 0


def nothing_is_left(fault_target: FaultTarget) -> None:
    """No fault on any proxy, every broker registered, every replica in sync, and a transaction commits."""
    assert fault_target.links.disturbed() == []
    wait.until(
        lambda: all(map(fault_target.registered, fault_target.brokers)),
        what="every broker registered",
        timeout_seconds=BOUND_SECONDS,
    )
    wait.until(fault_target.replicated, what="full ISR", timeout_seconds=BOUND_SECONDS, interval_seconds=0.05)
    with open_transaction(fault_target, TOPIC) as producer:
        assert producer.end(commit=True).error == 0


@contextmanager
def open_transaction(fault_target: FaultTarget, topic: str) -> Iterator[Producer]:
    """A producer with one record in its transaction, on partition 0 of the topic."""
    lane = StepRecorder("victim", client(fault_target.cluster, "victim"), EvidenceBuilder(), fault_target.clock, {})
    with closing(lane.client):
        coordinator, leader = fault_target.coordinator("teller"), fault_target.leader(topic, 0)
        assert coordinator is not None
        assert leader is not None
        producer = Producer(step_recorder=lane, transactional_id=ID, coordinator=coordinator)
        producer.init()
        producer.write(Partition(alias="P1", topic=topic, index=0, leader=leader))
        yield producer


@pytest.mark.parametrize("name", [name for name in TOXICS if name not in ON_PROXIES])
def test_a_toxic_strikes_heals_twice_and_leaves_nothing(name: str, fault_target: FaultTarget, traffic: Traffic) -> None:
    strikes = struck(TOXICS[name], fault_target, TOXICS[name].draw(SHAPE, Random(name)), traffic)
    assert strikes.struck > 0, strikes
    nothing_is_left(fault_target)


@pytest.mark.parametrize("proxy", ["lane-victim-2", "link-1-2", "link-3-4"])
@pytest.mark.parametrize("name", ON_PROXIES)
def test_a_fault_on_a_lane_or_link_meets_what_travels_there(
    name: str, proxy: str, fault_target: FaultTarget, traffic: Traffic
) -> None:
    strikes = struck(TOXICS[name], fault_target, {**TOXICS[name].draw(SHAPE, Random(name)), "proxy": proxy}, traffic)
    assert strikes.struck > 0, strikes
    nothing_is_left(fault_target)


@pytest.mark.parametrize("still", [400, 4_000])
def test_a_pause_may_outlast_the_brokers_session(still: int, fault_target: FaultTarget, traffic: Traffic) -> None:
    strikes = struck(TOXICS["pause"], fault_target, {"broker": 2, "still_ms": still}, traffic)
    assert strikes.struck == 1, strikes
    nothing_is_left(fault_target)


@pytest.mark.parametrize("cut_off_from", ["brokers", "clients"])
def test_a_coordinator_is_cut_off_from_brokers_or_from_clients(
    cut_off_from: str, fault_target: FaultTarget, traffic: Traffic
) -> None:
    strikes = struck(
        TOXICS["isolate-coordinator"], fault_target, {"transactional_id": "teller", "from": cut_off_from}, traffic
    )
    assert strikes.struck > 0, strikes
    assert f"broker-{fault_target.coordinator('teller')}" in strikes.where
    nothing_is_left(fault_target)


@pytest.mark.parametrize("name", ON_PASSING_TOPICS)
def test_what_a_transaction_wrote_to_is_lost_and_it_ends_all_the_same(name: str, fault_target: FaultTarget) -> None:
    topic = f"toxics-{name}"
    target = replace(fault_target, topics={"passing": topic})
    target.admin.create_topic(topic, {0: (1, 2, 3)})
    toxic = find_toxics()[name]
    chosen = toxic.draw(replace(SHAPE, passing=("passing",)), Random(0))
    with open_transaction(target, topic) as producer:
        with toxic.strike(target, chosen) as strikes:
            pass
        assert producer.end(commit=True).error == 0
    assert strikes.where.startswith(topic)
    assert strikes.struck == 1, strikes
    nothing_is_left(fault_target)


def test_a_strike_is_healed_after_an_error(fault_target: FaultTarget, traffic: Traffic) -> None:
    traffic.flows()
    for name, toxic in TOXICS.items():
        if toxic.power is Power.NETWORK:
            strike = toxic.strike(fault_target, toxic.draw(SHAPE, Random(name)))
            strike.__enter__()
            assert fault_target.links.disturbed() != [], name
            strike.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
            assert fault_target.links.disturbed() == [], name
    nothing_is_left(fault_target)
