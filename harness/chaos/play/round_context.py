"""The stage of one round: fresh topics and ids on a warm cluster, the actors on it, and where all of it is recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event, Thread

from harness.base.json_value import Json
from harness.base.seed import Seed
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.scenario import Role, Scenario
from harness.chaos.play.actor import Actor
from harness.chaos.play.environment import Environment
from harness.clients.client import Adapter, ClientOptions
from harness.clients.client_catalogue import ADAPTERS
from harness.clients.recording_client import RecordingClient
from harness.evidence.history_writer import HistoryWriter
from harness.evidence.operation import FaultWindow
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape
from harness.spark.readers.resumable_reader import ResumableReader

REPLICAS = 3
READER = "spark"
"""The name of Spark's reader in the history."""


class ClientsNotOffered(Exception):
    """The target does not offer what the scenario's clients need; the text names it."""


@dataclass(slots=True, kw_only=True)
class RoundContext:
    """What one round has; made by ``connect`` in :mod:`harness.run_chaos`.

    :param adapters: The scenario's clients, dealt out to the roles in turn.
    :param name: Part of every topic, transactional id and group, so that rounds on one cluster do not meet.
    :param taken: Transactional ids of all clients so far.
    :param crashes: What went wrong in our own threads; a round with a crash says nothing.
    """

    scenario: Scenario
    seed: Seed
    name: str
    fault_target: FaultTarget
    history_writer: HistoryWriter
    adapters: Sequence[Adapter]
    reader: ResumableReader
    facts: dict[str, Json] = field(default_factory=dict)
    faults: list[FaultWindow] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    stop: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)
    crashes: list[BaseException] = field(default_factory=list)

    @property
    def topics(self) -> Mapping[str, str]:
        """The workload's word for a topic to the real name."""
        return self.fault_target.topics

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        """Every partition of the round, by real topic."""
        of = self.scenario.workload.topics.items()
        return [(self.topics[word], index) for word, count in of for index in range(count)]

    @property
    def transactional_ids(self) -> Sequence[str]:
        """The real ones, each once; those of successors as far as they have come."""
        ids = (role.transactional_id for role in self.scenario.workload.roles())
        return list(dict.fromkeys([*(self.real(one) for one in ids if one is not None), *self.taken]))

    @property
    def shape(self) -> ClusterShape:
        """What the schedule may know."""
        workload = self.scenario.workload
        ids = dict.fromkeys(role.transactional_id for role in workload.roles() if role.transactional_id)
        lanes = dict.fromkeys(role.lane for role in workload.roles())  # a fault on a lane of nobody would meet nothing
        brokers = self.fault_target.cluster.topology.brokers
        return ClusterShape(brokers=brokers, lanes=tuple(lanes), topics=workload.topics, transactional_ids=tuple(ids))

    @property
    def longest_timeout(self) -> float:
        """Seconds after which the coordinator must have ended whatever a role left open."""
        return max(role.timeout_ms for role in self.scenario.workload.roles()) / 1000

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
        brokers = self.fault_target.cluster.topology.brokers
        for turn, (word, count) in enumerate(self.scenario.workload.topics.items()):
            order = {index: _turned(brokers, index + turn)[:REPLICAS] for index in range(count)}
            self.fault_target.admin.create_topic(self.topics[word], order)

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

    def note_fault(self, window: FaultWindow) -> None:
        """A fault is over."""
        self.faults.append(window)
        self.history_writer.write(window)

    def client(self, role: Role, actor: str, index: int) -> RecordingClient:
        """A fresh client for a role, recording."""
        options = ClientOptions(
            actor=actor,
            lane=role.lane,
            bootstrap=self.bootstrap(role.lane),
            transactional_id=self._id_of(role, actor),
            timeout_ms=role.timeout_ms,
            request_ms=role.request_ms,
            group=None if role.group is None else self.real(role.group),
        )
        return self._recording(self.adapters[index % len(self.adapters)], options)

    def probe_client(self, actor: str, transactional_id: str) -> RecordingClient:
        """A fresh client for a probe, over the lane that carries no toxic."""
        bootstrap = self.bootstrap("observer")
        options = ClientOptions(
            actor=actor, lane="observer", bootstrap=bootstrap, transactional_id=transactional_id, request_ms=5_000
        )
        return self._recording(self.adapters[0], options)

    def unfit(self, rest: Mapping[str, Json]) -> bool:
        """Whether the cluster is not to be used again, by what settling found: a replica that is not in sync."""
        found = rest.get("in_sync")
        return isinstance(found, dict) and bool(found.get("amiss"))

    def close(self) -> None:
        """End the reader, the history and the site."""
        self.reader.stop()
        self.history_writer.close()
        self.fault_target.close()
        self.fault_target.client.close()

    def bootstrap(self, lane: str) -> Mapping[int, str]:
        """The lane's addresses by node."""
        lanes = {str(name): addresses for name, addresses in self.fault_target.cluster.topology.lanes.items()}
        return {node: str(address) for node, address in lanes[lane].items()}

    def _id_of(self, role: Role, actor: str) -> str | None:
        if role.transactional_id is None:
            return None
        successor = actor.removeprefix(role.name) if role.fresh_ids else ""
        self.taken.append(self.real(role.transactional_id) + successor)
        return self.taken[-1]

    def _recording(self, adapter: Adapter, options: ClientOptions) -> RecordingClient:
        return RecordingClient(
            client=adapter.open(options),
            actor=options.actor,
            transactional_id=options.transactional_id,
            clock=self.fault_target.clock,
            history_writer=self.history_writer,
            group=options.group,
        )

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


def create_round(environment: Environment, round_: Round) -> RoundContext:
    """A stage for a round on the session's ground; nothing is created on the cluster yet.

    :raises Lacking: When the target offers none of the scenario's clients what they need.
    """
    scenario, name = round_.scenario, f"fp-{environment.next_round()}-{round_.seed.value}"
    adapters = _offered(environment, scenario)
    topics = {word: f"{name}-{word}" for word in scenario.workload.topics}
    ids = {role.transactional_id: f"{name}-{role.transactional_id}" for role in scenario.workload.roles()}
    fault_target = environment.fault_target(topics, {word: real for word, real in ids.items() if word is not None})
    reader = ResumableReader(
        spark=environment.spark.spark,
        bootstrap=fault_target.cluster.topology.bootstrap("observer"),
        topics=list(topics.values()),
        folder=round_.folder / "spark" / READER,
    )
    return RoundContext(
        scenario=scenario,
        seed=round_.seed,
        name=name,
        fault_target=fault_target,
        history_writer=HistoryWriter(round_.folder / "history"),
        adapters=adapters,
        reader=reader,
        facts={"clients": [adapter.kind for adapter in adapters]},
    )


def _offered(environment: Environment, scenario: Scenario) -> list[Adapter]:
    lacks = {name: environment.lacking(ADAPTERS[name]) for name in scenario.clients}
    able = [ADAPTERS[name] for name, lack in lacks.items() if lack is None]
    if not able:
        raise ClientsNotOffered("; ".join(filter(None, lacks.values())))
    return able


def _turned(brokers: Sequence[int], by: int) -> tuple[int, ...]:
    start = by % len(brokers)
    return (*brokers[start:], *brokers[:start])
