"""The context of one round: fresh topics and ids on the running cluster, its actors, and where all is recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Thread
from typing import cast

from harness.base import wait
from harness.base.json_value import Json
from harness.base.seed import Seed
from harness.chaos.moments.struck_moments import StruckMoments
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.crowd import SIZE_LIMIT, TOPIC_CONFIGS, CrowdedWorkload
from harness.chaos.plan.round_plan import PlannedRole, RoundPlan
from harness.chaos.plan.scenario import Role, Scenario
from harness.chaos.play.actor import Actor
from harness.chaos.play.casting import beyond_reach, crowd_protocols, offered_clients, plan_of, shape_of
from harness.chaos.play.environment import Environment
from harness.chaos.play.round_crowd import RoundCrowd
from harness.clients.client import Adapter, ClientOptions
from harness.clients.recording_client import RecordingClient
from harness.clients.stdio.client_processes import RunningClients
from harness.clients.stdio.stdio_adapter import StdioAdapter
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.cluster.cluster import RunRelease
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import FaultWindow
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import DeletingToxic
from harness.kafka.transaction_protocol import TransactionProtocol
from harness.spark.readers.resumable_reader import ResumableReader
from harness.wire.security.security import PLAINTEXT

REPLICAS = 3
OUT_OF_REACH = "out_of_reach"
"""The fact that names toxics of the scenario which could not strike on this target."""
READER = "spark"
"""The name of Spark's reader in the history."""


@dataclass(slots=True, kw_only=True)
class RoundContext:
    """What one round has; made by ``connect`` in :mod:`harness.run_chaos`.

    :param adapters: The scenario's clients.
    :param prober: The client of probes.
    :param processes: Of the clients that are processes of their own.
    :param environment: The session's.
    :param name: Part of every topic, transactional id and group, so that rounds on one cluster do not meet.
    :param facts: The round's facts for ``run.json``.
    :param state_epochs: Of the coordinators, before any role began (``BrokersView.state_epochs``).
    :param used_ids: Transactional ids of all clients so far.
    :param transactions: How many each role has begun, once it has ended.
    :param failures: Errors of our own threads; a round with one proves nothing.
    :param crowd: The producers beside the roles; None where there are none.
    :param struck_moments: When each fault struck.
    """

    scenario: Scenario
    seed: Seed
    plan: RoundPlan
    environment: Environment
    name: str
    fault_target: FaultTarget
    history_journal: HistoryJournal
    adapters: Sequence[Adapter]
    prober: Adapter
    processes: RunningClients
    reader: ResumableReader
    struck_moments: StruckMoments
    facts: dict[str, Json] = field(default_factory=dict)
    state_epochs: Mapping[int, int] = field(default_factory=dict)
    faults: list[FaultWindow] = field(default_factory=list)
    used_ids: list[str] = field(default_factory=list)
    stop: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    transactions: dict[str, int] = field(default_factory=dict)
    crowd: RoundCrowd | None = None

    @property
    def topics(self) -> Mapping[str, str]:
        """The real name of a topic by the workload's name for it."""
        return self.fault_target.topics

    @property
    def partitions(self) -> Sequence[tuple[str, int]]:
        """Every partition of the round that is read and judged, by real topic."""
        return [(self.topics[name], index) for name, index in self.scenario.partitions]

    @property
    def roles(self) -> Sequence[Role]:
        """Those of the workload that play."""
        playing = {role.name for role in self.plan.roles}
        return [role for role in self.scenario.workload.roles() if role.name in playing]

    @property
    def transactional_ids(self) -> Sequence[str]:
        """The real ones, each once; those of successors as far as they have come, and some of a crowd's."""
        ids = (role.transactional_id for role in self.roles)
        some = self.crowd.some_ids() if self.crowd else ()
        return list(dict.fromkeys([*(self.real_name(one) for one in ids if one is not None), *self.used_ids, *some]))

    @property
    def longest_timeout_seconds(self) -> float:
        """After which the coordinator must have ended every transaction that a role left open."""
        return max(role.timeout_ms for role in self.roles) / 1000

    @property
    def groups(self) -> Sequence[str]:
        """The real ones, each once."""
        groups = (role.group for role in self.roles)
        return list(dict.fromkeys(self.real_name(one) for one in groups if one is not None))

    def real_name(self, name: str) -> str:
        """A transactional id or group of the workload, as the cluster knows it."""
        return f"{self.name}-{name}"

    @property
    def players(self) -> Mapping[str, Adapter]:
        """The adapter of each role."""
        by_kind = {adapter.kind: adapter for adapter in self.adapters}
        return {role.name: by_kind[role.client] for role in self.plan.roles}

    def create_topics(self) -> None:
        """Every topic, on all brokers, with its leaders on different ones."""
        brokers = self.fault_target.cluster.topology.brokers
        self.environment.belongings.groups.extend(self.groups)
        for first, (name, count) in enumerate(self.scenario.workload.topics.items()):
            order = {index: _rotated(brokers, index + first)[:REPLICAS] for index in range(count)}
            self.environment.belongings.topics.append(self.topics[name])
            configs = TOPIC_CONFIGS if self.crowd else SIZE_LIMIT
            self.fault_target.admin.create_topic(self.topics[name], order, configs)

    def start_roles(self, *, later: bool = False) -> None:
        """Those that begin at once, or those that begin ``later``, whose time counts from now."""
        self.facts["played_by"] = {role.name: role.client for role in self.plan.roles}
        # The index is that in the whole workload: transactions are numbered by it.
        for index, role in enumerate(self.scenario.workload.roles(), start=1):
            planned = next((each for each in self.plan.roles if each.name == role.name), None)
            if planned is not None and bool(planned.at_ms) == later:
                self.start_thread(f"role {role.name}", partial(self._run_role, index, role, planned))
        if self.crowd is not None and not later:
            self.start_thread("crowd", self.crowd.run)

    def note_crowd(self) -> None:
        """Who the crowd were, for the round's facts."""
        if self.crowd is not None:
            self.facts["crowd"] = self.crowd.facts()
            self.facts["minimum_traffic"] = self.crowd.minimum()

    def await_clients(self, timeout_seconds: float) -> None:
        """Wait until a process plays each role that one is to play, but for one that failed, so that toxics strike."""
        at_once = (self.players[role.name] for role in self.plan.roles if not role.at_ms)
        wanted = sum(isinstance(adapter, StdioAdapter) for adapter in at_once)

        def there() -> bool:
            return self.stop.is_set() or len(self.processes.running()) >= wanted or bool(self.processes.notes())

        wait.elapsed_ms_until(there, timeout_seconds=timeout_seconds)

    def is_at_work(self) -> bool:
        """Whether the crowd, where there is one, commits as much as a fault must meet."""
        return self.crowd is None or self.crowd.is_at_work()

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

    @property
    def spent(self) -> str:
        """Why the cluster is not to be used again, by what settling found and by its nodes; empty where it is."""
        settled, cluster = self.facts.get("settle"), self.fault_target.cluster
        in_sync = settled.get("in_sync") if isinstance(settled, dict) else None
        if isinstance(in_sync, dict) and in_sync.get("not_yet"):
            return "this one did not come to rest"
        altered = isinstance(cluster, RunRelease) and cluster.altered()
        return "nodes of this one run another release now" if altered else ""

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
            timeout_ms=options.timeout_ms,
        )

    def _run_role(self, index: int, role: Role, planned: PlannedRole) -> None:
        if self.stop.wait(planned.at_ms / 1000):
            return
        actor = Actor(
            role=role.name,
            index=index,
            open_client=lambda name: self.client(role, name),
            topics=dict(self.topics),
            stop=self.stop,
            most_txns=planned.transactions,
        )
        try:
            role.run(actor, self.seed.stream(f"{self.scenario.name}/{role.name}"))
        finally:
            self.transactions[role.name] = actor.txns
            actor.close()


def create_round(environment: Environment, round_: Round) -> RoundContext:
    """The context of a round in the session's environment; nothing is created on the cluster yet.

    :raises ScenarioOutOfReach: When no toxic of the scenario can strike there.
    :raises ClientsNotOffered: When the target offers none of the scenario's clients what they need.
    """
    scenario, name = round_.scenario, environment.next_round(round_.seed.value)
    out_of_reach = beyond_reach(environment, scenario)
    processes = RunningClients(record=environment.record_client)
    adapters = offered_clients(environment, round_, processes)
    plan = plan_of(round_, shape_of(scenario, environment), adapters)
    topics = {topic: f"{name}-{topic}" for topic in scenario.workload.topics}
    ids = {role.transactional_id for role in scenario.workload.roles() if role.transactional_id is not None}
    fault_target = environment.fault_target(topics, {each: f"{name}-{each}" for each in ids}, processes)
    reader = ResumableReader(
        spark=environment.spark.spark,
        bootstrap=environment.reading.bootstrap,
        topics=[topics[name] for name in scenario.lasting],
        folder=round_.folder / "spark" / READER,
        security=environment.reading.security,
        group=f"{name}-spark",
        deleted=any(isinstance(fault.toxic, DeletingToxic) for fault in plan.faults),
    )
    context = RoundContext(
        scenario=scenario,
        seed=round_.seed,
        environment=environment,
        name=name,
        fault_target=fault_target,
        history_journal=HistoryJournal(round_.folder / "history"),
        adapters=adapters,
        plan=plan,
        prober=ADAPTERS[plan.prober],
        processes=processes,
        reader=reader,
        struck_moments=StruckMoments(fault_target.clock),
        facts={"clients": [adapter.kind for adapter in adapters], OUT_OF_REACH: dict(out_of_reach)},
    )
    context.crowd = _crowd_beside(context, crowd_protocols(environment, scenario, adapters))
    return context


def _crowd_beside(context: RoundContext, protocols: Sequence[TransactionProtocol]) -> RoundCrowd | None:
    """The plan's crowd; none on a cluster that is not ours, unless load is allowed there."""
    environment, scenario = context.environment, context.scenario
    allowed = environment.open().owned or environment.wanted.permissions.load
    if scenario.crowd is None or not context.plan.crowd or not protocols or not allowed:
        return None
    return RoundCrowd(
        crowd=replace(scenario.crowd, seats=context.plan.crowd),
        workload=cast(CrowdedWorkload, scenario.workload),
        protocols=protocols,
        seed=context.seed,
        bootstrap=context.bootstrap,
        id_prefix=context.real_name(""),
        topics=dict(context.topics),
        clock=context.fault_target.clock,
        history_journal=context.history_journal,
        stop=context.stop,
    )


def _rotated(brokers: Sequence[int], by: int) -> tuple[int, ...]:
    start = by % len(brokers)
    return (*brokers[start:], *brokers[:start])
