"""The context of one round: fresh topics and ids on the running cluster, its actors, and where all is recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread

from harness.base import wait
from harness.base.json_value import Json
from harness.base.seed import Seed
from harness.chaos.plan.crowd import TOPIC_CONFIGS
from harness.chaos.plan.scenario import Role, Scenario
from harness.chaos.play.actor import Actor
from harness.chaos.play.environment import Environment
from harness.chaos.play.round_crowd import RoundCrowd
from harness.clients.client import Adapter, ClientOptions
from harness.clients.recording_client import RecordingClient
from harness.clients.stdio.client_processes import RunningClients
from harness.clients.stdio.stdio_adapter import StdioAdapter
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import FaultWindow
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape
from harness.spark.readers.resumable_reader import ResumableReader
from harness.wire.security.security import PLAINTEXT

REPLICAS = 3
OUT_OF_REACH = "out_of_reach"
"""The fact that names toxics of the scenario which could not strike on this target."""
PROBER = "wire-v1"
"""The adapter that probes where libraries play the roles: whether the cluster serves must not depend on them."""
READER = "spark"
"""The name of Spark's reader in the history."""


class ScenarioOutOfReach(Exception):
    """No toxic of the scenario can strike anything on this target; the text says why."""


class ClientsNotOffered(Exception):
    """The target does not offer what the scenario's clients need; the text names it."""


@dataclass(slots=True, kw_only=True)
class RoundContext:
    """What one round has; made by ``connect`` in :mod:`harness.run_chaos`.

    :param adapters: The scenario's clients, given to the roles in turn.
    :param prober: The client of probes.
    :param processes: Of the clients that are processes of their own.
    :param environment: The session's.
    :param name: Part of every topic, transactional id and group, so that rounds on one cluster do not meet.
    :param facts: The round's facts for ``run.json``.
    :param used_ids: Transactional ids of all clients so far.
    :param failures: Errors of our own threads; a round with one proves nothing.
    :param crowd: The producers beside the roles; None where there are none.
    """

    scenario: Scenario
    seed: Seed
    environment: Environment
    name: str
    fault_target: FaultTarget
    history_journal: HistoryJournal
    adapters: Sequence[Adapter]
    prober: Adapter
    processes: RunningClients
    reader: ResumableReader
    facts: dict[str, Json] = field(default_factory=dict)
    faults: list[FaultWindow] = field(default_factory=list)
    used_ids: list[str] = field(default_factory=list)
    stop: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    crowd: RoundCrowd | None = None

    @property
    def topics(self) -> Mapping[str, str]:
        """The real name of a topic by the workload's name for it."""
        return self.fault_target.topics

    @property
    def partitions(self) -> Sequence[tuple[str, int]]:
        """Every partition of the round, by real topic."""
        topics = self.scenario.workload.topics.items()
        return [(self.topics[name], index) for name, count in topics for index in range(count)]

    @property
    def transactional_ids(self) -> Sequence[str]:
        """The real ones, each once; those of successors as far as they have come, and some of a crowd's."""
        ids = (role.transactional_id for role in self.scenario.workload.roles())
        some = self.crowd.some_ids() if self.crowd else ()
        return list(dict.fromkeys([*(self.real_name(one) for one in ids if one is not None), *self.used_ids, *some]))

    @property
    def shape(self) -> ClusterShape:
        """What the schedule may depend on."""
        return shape_of(self.scenario, self.environment)

    @property
    def longest_timeout_seconds(self) -> float:
        """After which the coordinator must have ended every transaction that a role left open."""
        return max(role.timeout_ms for role in self.scenario.workload.roles()) / 1000

    @property
    def groups(self) -> Sequence[str]:
        """The real ones, each once."""
        groups = (role.group for role in self.scenario.workload.roles())
        return list(dict.fromkeys(self.real_name(one) for one in groups if one is not None))

    def real_name(self, name: str) -> str:
        """A transactional id or group of the workload, as the cluster knows it."""
        return f"{self.name}-{name}"

    @property
    def players(self) -> Mapping[str, Adapter]:
        """The adapter of each role, in turn.

        A group has one library: members must know one assignor in common, and what libraries offer by default differs.
        """
        players: dict[str, Adapter] = {}
        turns: dict[str, int] = {}
        programs = any(isinstance(adapter, StdioAdapter) for adapter in self.adapters)
        for index, role in enumerate(self.scenario.workload.roles(), start=1):
            shared = role.group if role.group and programs else role.name
            players[role.name] = self.adapters[turns.setdefault(shared, index) % len(self.adapters)]
        return players

    def create_topics(self) -> None:
        """Every topic, on all brokers, with its leaders on different ones."""
        brokers = self.fault_target.cluster.topology.brokers
        self.environment.belongings.groups.extend(self.groups)
        for first, (name, count) in enumerate(self.scenario.workload.topics.items()):
            order = {index: _rotated(brokers, index + first)[:REPLICAS] for index in range(count)}
            self.environment.belongings.topics.append(self.topics[name])
            configs = TOPIC_CONFIGS if self.crowd else None
            self.fault_target.admin.create_topic(self.topics[name], order, configs)

    def start_roles(self) -> None:
        self.facts["played_by"] = {role: adapter.kind for role, adapter in self.players.items()}
        for index, role in enumerate(self.scenario.workload.roles(), start=1):
            self.start_thread(f"role {role.name}", partial(self._run_role, index, role))
        if self.crowd is not None:
            self.start_thread("crowd", self.crowd.run)

    def note_crowd(self) -> None:
        """Who the crowd were, for the round's facts."""
        if self.crowd is not None:
            self.facts["crowd"] = self.crowd.facts()
            self.facts["minimum_traffic"] = self.crowd.minimum()

    def await_clients(self, timeout_seconds: float) -> None:
        """Wait until a process plays each role that one is to play, so that toxics strike what runs; not for one that
        failed.
        """
        wanted = sum(isinstance(adapter, StdioAdapter) for adapter in self.players.values())

        def there() -> bool:
            return self.stop.is_set() or len(self.processes.running()) >= wanted or bool(self.processes.notes())

        wait.elapsed_ms_until(there, timeout_seconds=timeout_seconds)

    def stop_threads(self, timeout_seconds: float) -> None:
        """Stop all threads and wait for them; one that does not end within so many seconds is a failure of ours."""
        self.stop.set()
        for thread in self.threads:
            thread.join(timeout_seconds)
            if thread.is_alive():
                self.failures.append(TimeoutError(f"{thread.name} did not end within {timeout_seconds:g} s"))

    def start_thread(self, name: str, work: Callable[[], None]) -> None:
        """A thread whose failure is kept and stops the round."""

        def guarded() -> None:
            try:
                work()
            except BaseException as failure:  # noqa: BLE001  raised by the flow, which must heal and drain first
                self.failures.append(failure)
                self.stop.set()

        thread = Thread(target=guarded, name=name, daemon=True)
        self.threads.append(thread)
        thread.start()

    def note_fault(self, window: FaultWindow) -> None:
        """Keep the window of a fault that is over."""
        self.faults.append(window)
        self.history_journal.write(window)

    def client(self, role: Role, actor: str) -> RecordingClient:
        """A fresh client for a role, recording."""
        options = ClientOptions(
            actor=actor,
            lane=role.lane,
            bootstrap=self.bootstrap(role.lane),
            transactional_id=self._id_of(role, actor),
            timeout_ms=role.timeout_ms,
            request_ms=role.request_ms,
            group=None if role.group is None else self.real_name(role.group),
            security=PLAINTEXT,  # a lane's listener is plaintext, and so is the gate behind the lanes of other clusters
        )
        return self._recording(self.players[role.name], options)

    def probe_client(self, actor: str, transactional_id: str) -> RecordingClient:
        """A fresh client for a probe, over the lane that carries no toxic."""
        reading = self.environment.reading  # the client may be one that follows Metadata
        self.environment.belongings.transactional_ids += 1
        options = ClientOptions(
            actor=actor,
            lane="observer",
            bootstrap={node: str(address) for node, address in reading.addresses.items()},
            transactional_id=transactional_id,
            request_ms=5_000,
            security=reading.security,
        )
        return self._recording(self.prober, options)

    def unusable(self, settled: Mapping[str, Json]) -> bool:
        """Whether the cluster is not to be used again, by what settling found: a replica that is not in sync."""
        found = settled.get("in_sync")
        return isinstance(found, dict) and bool(found.get("not_yet"))

    def close(self) -> None:
        """No client's process is left; of a cluster that is not ours all is removed that the round made there."""
        self.processes.end_all()
        self.reader.stop()
        self.history_journal.close()
        try:
            self.environment.tidy(self.fault_target.client)
        finally:
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
        self.used_ids.append(self.real_name(role.transactional_id) + successor)
        self.environment.belongings.transactional_ids += 1
        return self.used_ids[-1]

    def _recording(self, adapter: Adapter, options: ClientOptions) -> RecordingClient:
        return RecordingClient(
            client=adapter.open(options),
            actor=options.actor,
            transactional_id=options.transactional_id,
            clock=self.fault_target.clock,
            history_journal=self.history_journal,
            group=options.group,
        )

    def _run_role(self, index: int, role: Role) -> None:
        actor = Actor(
            role=role,
            index=index,
            open_client=lambda name: self.client(role, name),
            topics=dict(self.topics),
            stop=self.stop,
        )
        try:
            role.run(actor, self.seed.stream(f"{self.scenario.name}/{role.name}"))
        finally:
            actor.close()


def shape_of(scenario: Scenario, environment: Environment) -> ClusterShape:
    """What the schedule may depend on; a fault on a lane without clients would strike nothing."""
    roles, topology = scenario.workload.roles(), environment.open().topology
    ids = dict.fromkeys(role.transactional_id for role in roles if role.transactional_id)
    return ClusterShape(
        brokers=topology.brokers,
        lanes=tuple(dict.fromkeys(role.lane for role in roles)),
        topics=scenario.workload.topics,
        transactional_ids=tuple(ids),
        reach=environment.reach,
    )


def _rotated(brokers: Sequence[int], by: int) -> tuple[int, ...]:
    start = by % len(brokers)
    return (*brokers[start:], *brokers[:start])
