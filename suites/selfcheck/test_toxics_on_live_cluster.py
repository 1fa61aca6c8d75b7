"""Toxics of network, process and coordinator on a real cluster: each strikes, heals, heals twice, and leaves nothing.

Needs Java, and once Maven and Go. One cluster for all; small traffic runs on the victim lane the whole time, so that
every lane and every link between brokers has something to meet a fault with.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from threading import Event, Thread

import pytest

from harness import wait
from harness.chaos.site import Site
from harness.chaos.toxic import Power, Proof, Shape, Toxic
from harness.chaos.toxicology import find_toxics
from harness.clock import RunClock
from harness.cluster.opening import open_cluster
from harness.cluster.port import Cluster, ClusterOptions
from harness.cluster.target import Released
from harness.cluster.topology import Lane
from harness.history.evidence import Json
from harness.history.recorder import Unrecorded
from harness.lab.asking import Asker
from harness.lab.notes import Notes
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.wire.client import WireClient
from harness.wire.errors import WireError
from harness.wire.records import NewBatch
from harness.wire.verbs.produce import PartitionBatch, Produce

pytestmark = pytest.mark.live

WORD, TOPIC, ID = "accounts", "toxics-accounts", "toxics-teller"
SHAPE = Shape(lanes=("victim",), topics={WORD: 3}, transactional_ids=("teller",))
TOXICS = {name: toxic for name, toxic in find_toxics().items() if toxic.power is not Power.FRAMES}
ON_PROXIES = [name for name, toxic in TOXICS.items() if "proxy" in toxic.draw(SHAPE, Random(0))]
CALM = 60.0
"""Seconds for whatever has to come about; three restarts on a busy machine take half of them."""


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
            within=30,
        )

    def _produce(self, node: int) -> None:
        batch = NewBatch(values=("traffic",), producer_id=-1, producer_epoch=-1, base_sequence=-1, transactional=False)
        part = PartitionBatch(topic=TOPIC, partition=node - 1, batch=batch, topic_id=None)
        while not self.over.is_set():
            try:
                self.client.call(node, Produce(transactional_id=None, batches=(part,)), 9, within=0.3)
            except WireError:
                wait.pause(0.02)
            self.tried[node] += 1


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all toxics."""
    place = tmp_path_factory.mktemp("toxics")
    running = open_cluster(
        Released("4.3.1"), backend="process", options=ClusterOptions(), run_dir=place, progress=lambda _: None
    )
    yield running
    running.close()


@pytest.fixture(scope="module")
def site(cluster: Cluster) -> Iterator[Site]:
    """The site, with the topic that the traffic and the toxics use."""
    asker = Asker("observer", client(cluster, "observer"), Notes(), RunClock(), {})
    made = Site(cluster=cluster, clock=asker.clock, asker=asker, topics={WORD: TOPIC}, transactional_ids={"teller": ID})
    made.admin.create_topic(TOPIC, {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)})
    yield made
    asker.client.close()


@pytest.fixture(scope="module")
def traffic(cluster: Cluster, site: Site) -> Iterator[Traffic]:
    """Traffic for the whole time."""
    running = Traffic(client=client(cluster, "victim"))
    running.begin(site.brokers)
    running.flows()
    yield running
    running.end()


def client(cluster: Cluster, lane: Lane) -> WireClient:
    """A client on a lane that knows already what every broker offers."""
    made = WireClient(
        actor=lane, lane=lane, addresses=cluster.topology.lanes[lane], clock=RunClock(), recorder=Unrecorded()
    )
    for node in cluster.topology.brokers:
        made.offered(node)
    return made


def struck(toxic: Toxic, site: Site, chosen: Mapping[str, Json], traffic: Traffic) -> Proof:
    """Strike while traffic flows, until it did what it is for; heal, and heal again."""
    strike = toxic.strike(site, chosen)
    with strike as proof:
        traffic.flows()
        wait.until(lambda: has_struck(toxic, site, chosen, proof), what=f"{toxic.name} to strike", within=CALM)
    strike.__exit__(None, None, None)
    return proof


def has_struck(toxic: Toxic, site: Site, chosen: Mapping[str, Json], proof: Proof) -> bool:
    """Whether the fault has done what it is for."""
    match chosen:
        case {"brokers": list(brokers)}:
            return proof.struck == len(brokers)
        case {"broker": int(broker), "still_ms": int(still)}:
            return still < 2_500 or site.dropped(broker)
        case {"broker": int(broker)} if toxic.name == "isolate-from-controller":
            return site.dropped(broker)
        case _:
            return proof.struck > 0


def nothing_is_left(site: Site) -> None:
    """No fault on any proxy, every broker registered, every replica in sync, and a transaction commits."""
    assert site.links.disturbed() == []
    wait.until(lambda: all(map(site.registered, site.brokers)), what="every broker registered", within=CALM)
    wait.until(site.replicated, what="full ISR", within=CALM, every=0.05)
    lane = Asker("victim", client(site.cluster, "victim"), Notes(), site.clock, {})
    coordinator, leader = site.coordinator("teller"), site.leader(TOPIC, 0)
    assert coordinator is not None
    assert leader is not None
    producer = Producer(asker=lane, transactional_id=ID, coordinator=coordinator)
    producer.init()
    producer.write(Partition(alias="P1", topic=TOPIC, index=0, leader=leader))
    assert producer.end(commit=True).error == 0
    lane.client.close()


@pytest.mark.parametrize("name", [name for name in TOXICS if name not in ON_PROXIES])
def test_a_toxic_strikes_heals_twice_and_leaves_nothing(name: str, site: Site, traffic: Traffic) -> None:
    proof = struck(TOXICS[name], site, TOXICS[name].draw(SHAPE, Random(name)), traffic)
    assert proof.struck > 0, proof
    nothing_is_left(site)


@pytest.mark.parametrize("proxy", ["lane-victim-2", "link-1-2", "link-3-4"])
@pytest.mark.parametrize("name", ON_PROXIES)
def test_a_fault_on_a_lane_or_link_meets_what_travels_there(
    name: str, proxy: str, site: Site, traffic: Traffic
) -> None:
    proof = struck(TOXICS[name], site, {**TOXICS[name].draw(SHAPE, Random(name)), "proxy": proxy}, traffic)
    assert proof.struck > 0, proof
    nothing_is_left(site)


@pytest.mark.parametrize("still", [400, 4_000])
def test_a_pause_may_outlast_the_brokers_session(still: int, site: Site, traffic: Traffic) -> None:
    proof = struck(TOXICS["pause"], site, {"broker": 2, "still_ms": still}, traffic)
    assert proof.struck == 1, proof
    nothing_is_left(site)


@pytest.mark.parametrize("cut_off_from", ["brokers", "clients"])
def test_a_coordinator_is_cut_off_from_brokers_or_from_clients(cut_off_from: str, site: Site, traffic: Traffic) -> None:
    proof = struck(TOXICS["isolate-coordinator"], site, {"transactional_id": "teller", "from": cut_off_from}, traffic)
    assert proof.struck > 0, proof
    assert f"broker-{site.coordinator('teller')}" in proof.where
    nothing_is_left(site)


def test_a_strike_is_healed_after_an_error(site: Site, traffic: Traffic) -> None:
    traffic.flows()
    for name, toxic in TOXICS.items():
        if toxic.power is Power.NETWORK:
            strike = toxic.strike(site, toxic.draw(SHAPE, Random(name)))
            strike.__enter__()
            assert site.links.disturbed() != [], name
            strike.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
            assert site.links.disturbed() == [], name
    nothing_is_left(site)
