"""The stage of one round: fresh topics and ids on a warm cluster, the actors on it, and where all of it is recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event, Thread

from harness.chaos.actor import Actor
from harness.chaos.scenario import Role, Scenario
from harness.chaos.site import Site
from harness.clients.port import Adapter, ClientOptions
from harness.clients.recording import RecordingClient
from harness.history.chronicle import Chronicle
from harness.seed import Seed

REPLICAS = 3


@dataclass(slots=True, kw_only=True)
class Stage:
    """What one round has; made by ``connect`` in :mod:`harness.chaos.run`.

    :param adapters: The scenario's clients, dealt out to the roles in turn.
    :param name: Part of every topic, transactional id and group, so that rounds on one cluster do not meet.
    :param crashes: What went wrong in our own threads; a round with a crash says nothing.
    """

    scenario: Scenario
    seed: Seed
    name: str
    site: Site
    chronicle: Chronicle
    adapters: Sequence[Adapter]
    stop: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)
    crashes: list[BaseException] = field(default_factory=list)

    @property
    def topics(self) -> Mapping[str, str]:
        """The workload's word for a topic to the real name."""
        return self.site.topics

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        """Every partition of the round, by real topic."""
        of = self.scenario.workload.topics.items()
        return [(self.topics[word], index) for word, count in of for index in range(count)]

    @property
    def transactional_ids(self) -> Sequence[str]:
        """The real ones, each once."""
        ids = (role.transactional_id for role in self.scenario.workload.roles())
        return list(dict.fromkeys(self.real(one) for one in ids if one is not None))

    @property
    def groups(self) -> Sequence[str]:
        """The real ones, each once."""
        groups = (role.group for role in self.scenario.workload.roles())
        return list(dict.fromkeys(self.real(one) for one in groups if one is not None))

    def real(self, word: str) -> str:
        """A transactional id or group of the workload's words, as the cluster knows it."""
        return f"{self.name}-{word}"

    def create_topics(self) -> None:
        """Every topic, replicated to all, leaders dealt round."""
        brokers = self.site.cluster.topology.brokers
        for turn, (word, count) in enumerate(self.scenario.workload.topics.items()):
            order = {index: _turned(brokers, index + turn)[:REPLICAS] for index in range(count)}
            self.site.admin.create_topic(self.topics[word], order)

    def enter(self) -> None:
        """Every role begins to play, in a thread of its own."""
        for index, role in enumerate(self.scenario.workload.roles(), start=1):
            self.run(f"role {role.name}", lambda index=index, role=role: self._play(index, role))  # type: ignore[misc]

    def leave(self, within: float) -> None:
        """Tell all to stop and wait for them; one that does not come is a crash of ours."""
        self.stop.set()
        for thread in self.threads:
            thread.join(within)
            if thread.is_alive():
                self.crashes.append(TimeoutError(f"{thread.name} did not end within {within:g} s"))

    def run(self, name: str, work: Callable[[], None]) -> None:
        """A thread whose crash is remembered."""

        def guarded() -> None:
            try:
                work()
            except BaseException as crash:  # noqa: BLE001  told by the flow, which must heal and drain first
                self.crashes.append(crash)
                self.stop.set()

        thread = Thread(target=guarded, name=name, daemon=True)
        self.threads.append(thread)
        thread.start()

    def client(self, role: Role, actor: str, index: int) -> RecordingClient:
        """A fresh client for a role, recording."""
        adapter = self.adapters[index % len(self.adapters)]
        transactional_id = None if role.transactional_id is None else self.real(role.transactional_id)
        group = None if role.group is None else self.real(role.group)
        options = ClientOptions(
            actor=actor,
            lane=role.lane,
            bootstrap=self.bootstrap(role.lane),
            transactional_id=transactional_id,
            timeout_ms=role.timeout_ms,
            request_ms=role.request_ms,
            group=group,
        )
        return RecordingClient(
            client=adapter.open(options),
            actor=actor,
            transactional_id=transactional_id,
            clock=self.site.clock,
            chronicle=self.chronicle,
            group=group,
        )

    def bootstrap(self, lane: str) -> Mapping[int, str]:
        """The lane's addresses by node."""
        lanes = {str(name): addresses for name, addresses in self.site.cluster.topology.lanes.items()}
        return {node: str(address) for node, address in lanes[lane].items()}

    def _play(self, index: int, role: Role) -> None:
        actor = Actor(
            role=role,
            index=index,
            open_client=lambda name: self.client(role, name, index),
            topics=dict(self.topics),
            stop=self.stop,
        )
        try:
            role.play(actor, self.seed.stream(f"{self.scenario.name}/{role.name}"))
        finally:
            actor.leave()


def _turned(brokers: Sequence[int], by: int) -> tuple[int, ...]:
    start = by % len(brokers)
    return (*brokers[start:], *brokers[:start])
