"""A few transactional clients at work on a real cluster, for tests that put something in their way."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

from harness import wait
from harness.chaos.site import Site
from harness.clients.port import Adapter, Answer, Client, ClientOptions
from harness.clients.wire.adapter import ADAPTERS
from harness.clock import RunClock
from harness.cluster.opening import open_cluster
from harness.cluster.port import Cluster, ClusterOptions
from harness.cluster.target import Released
from harness.cluster.topology import Lane
from harness.history.operation import Value
from harness.history.recorder import Unrecorded
from harness.lab.asking import Asker
from harness.lab.notes import Notes
from harness.wire.client import WireClient

REQUEST_MS = 1_500
WORD, PARTITIONS = "accounts", 3
WIRE: Mapping[str, Adapter] = {adapter.kind: adapter for adapter in ADAPTERS}


@contextmanager
def site_of(version: str, place: Path, topic: str) -> Iterator[Site]:
    """A site on a cluster of its own, with a topic of three partitions."""
    cluster = open_cluster(
        Released(version), backend="process", options=ClusterOptions(), run_dir=place, progress=lambda _: None
    )
    asker = Asker("observer", observer(cluster), Notes(), RunClock(), {})
    site = Site(cluster=cluster, clock=asker.clock, asker=asker, topics={WORD: topic})
    try:
        site.admin.create_topic(topic, {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)})
        yield site
    finally:
        site.close()
        asker.client.close()
        cluster.close()


def observer(cluster: Cluster) -> WireClient:
    """A client on the observer's lane."""
    return WireClient(
        actor="observer",
        lane="observer",
        addresses=cluster.topology.lanes["observer"],
        clock=RunClock(),
        recorder=Unrecorded(),
    )


def options(
    site: Site, actor: str, transactional_id: str, *, lane: Lane = "victim", request_ms: int = REQUEST_MS
) -> ClientOptions:
    """Of a client that gives up soon."""
    lanes = site.cluster.topology.lanes[lane]
    return ClientOptions(
        actor=actor,
        lane=lane,
        bootstrap={node: str(address) for node, address in lanes.items()},
        transactional_id=transactional_id,
        request_ms=request_ms,
        group="crowd",
    )


@dataclass(slots=True, kw_only=True)
class Crowd:
    """Each adapter's client writes a record to every partition and an offset, commits, and so on until the end."""

    site: Site
    topic: str
    adapters: Mapping[str, Adapter]
    over: Event = field(default_factory=Event)
    ended: dict[str, int] = field(default_factory=dict)
    committed: dict[str, int] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _txn: int = 0

    def begin(self) -> None:
        """One thread for each; after an end, everybody begins again."""
        self.over.clear()
        self.threads.clear()
        for kind, adapter in self.adapters.items():
            self.ended[kind] = self.committed[kind] = 0
            self.threads.append(Thread(target=self._play, args=(kind, adapter), daemon=True))
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        """Come to the end."""
        self.over.set()
        for thread in self.threads:
            thread.join(20)

    def goes_on(self, times: int, *, committed: bool = False) -> None:
        """Wait until every client has ended so many transactions more, one way or the other, or committed them."""
        counted = self.committed if committed else self.ended
        before = dict(counted)
        wait.until(
            lambda: all(counted[kind] >= before[kind] + times for kind in before),
            what=f"{times} more transactions of everybody",
            within=40,
            every=0.02,
        )

    def _play(self, kind: str, adapter: Adapter) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            client = adapter.open(options(self.site, f"{kind}.{number}", f"{kind}-{self.topic}"))
            sure = self._sure(client.init())
            self.ended[kind] += not sure
            while sure and not self.over.is_set():
                sure = self._transact(kind, client)
            client.abort()
            client.close()

    def _transact(self, kind: str, client: Client) -> bool:
        """One transaction; False when its client has to go."""
        with self._lock:
            self._txn += 1
            txn = self._txn
        client.begin()
        sure = self._written(client, txn) and self._sure(client.commit())
        self.ended[kind] += 1
        self.committed[kind] += sure
        return sure

    def _written(self, client: Client, txn: int) -> bool:
        values = [Value(txn=txn, ordinal=i, size=PARTITIONS) for i in range(PARTITIONS)]
        return all(self._sure(client.produce(self.topic, value.ordinal, value)) for value in values) and self._sure(
            client.send_offsets(self.topic, 0, txn)
        )

    def _sure(self, answer: Answer) -> bool:
        if not answer.done:
            self.refusals.append(f"{answer.outcome} {answer.error} {answer.reason}")
        return answer.done
