"""What the stimulus of a client requirement drives: applications of one client, beside a broker's lab.

Each application is a process of its own on the lane ``victim``, whose proxies lead through the gate. The gate knows an
application by its client id, so that many are driven at the same time, and logs each of its requests.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict, Unpack

from harness.base.addresses import Lane
from harness.base.json_value import Json
from harness.base.unprepared import OutOfReach, Unprepared
from harness.clients.stdio.adapter_options import AdapterOptions
from harness.clients.stdio.adapter_process import AdapterFailed, start_adapter
from harness.contract.clients.spoken import OFFERED, PROTOCOL, SPOKEN, protocols, spoken
from harness.evidence.client_evidence import Frame
from harness.faults.frame_gate import FrameGate, GateFailed
from harness.lab.clients.application import Application
from harness.lab.clients.client_under_test import ClientUnderTest
from harness.lab.lab import Lab
from harness.lab.partition import Group, Partition

LANE: Lane = "victim"


class Settings(TypedDict, total=False):
    """Of an application, as in :class:`harness.clients.stdio.adapter_options.AdapterOptions`; milliseconds, bytes."""

    transaction_timeout_ms: int
    request_timeout_ms: int
    delivery_timeout_ms: int
    block_ms: int
    linger_ms: int
    batch_bytes: int
    in_flight: int
    compression: str
    isolation: str
    session_timeout_ms: int
    fetch_bytes: int


@dataclass(slots=True, kw_only=True)
class ClientLab:
    """The lab of one client and one requirement; :func:`client_lab` makes and closes it.

    :param lab: A broker's lab: partitions, the observer, moves, nodes, settings, what is drained.
    :param prefix: What the client ids of all applications begin with.
    """

    lab: Lab
    client: ClientUnderTest
    frame_gate: FrameGate
    prefix: str
    applications: list[Application] = field(default_factory=list)

    def partition(self, alias: str = "P1", *, leader: int | None = None, replicas: int = 1) -> Partition:
        """A partition of its own; it is drained at the end under this name."""
        return self.lab.partition(alias, leader=leader, replicas=replicas)

    def group(self, alias: str = "G1") -> Group:
        """A fresh group; what it has committed is read by ``lab.observer.committed_offset``."""
        return self.lab.placement.group(alias, drained=False)

    def application(
        self,
        name: str = "app",
        *,
        same_id: Application | None = None,
        transactional: bool = True,
        idempotent: bool = True,
        protocol: Literal[1] | None = None,
        stale: Sequence[int] = (),
        cap: Mapping[str, int] | None = None,
        group: Group | None = None,
        **settings: Unpack[Settings],
    ) -> Application:
        """Start one; nothing is initialised yet.

        :param name: Unique in the requirement; steps and frames name it so.
        :param same_id: The application of which this is a newer instance: it has the same transactional id.
        :param transactional: False: a producer without transactional id.
        :param protocol: 1: the brokers seem to finalize ``transaction.version`` 1 to it, so that it uses the old one.
        :param stale: Brokers that seem to it to lag behind: they show level 1, in the first epoch of features.
        :param cap: The brokers seem to offer these APIs up to these versions only.
        :param group: Of its consumer.
        :raises Unprepared: When the program does not start, or the library cannot be made so.
        """
        transactional_id, coordinator = self._id(same_id, transactional)
        properties = self.lab.cluster.topology.secured(LANE).file
        options = AdapterOptions(
            bootstrap=[str(address) for address in self.lab.cluster.topology.lanes[LANE].values()],
            client_id=f"{self.prefix}{name}",
            transactional_id=transactional_id,
            idempotent=idempotent,
            group=None if group is None else group.name,
            properties_file=properties or None,
        )
        made = self._started(name, replace(options, **settings), coordinator)
        if older := {**(cap or {}), **({"level": protocol} if protocol else {})}:
            self._cap(made, older)
        elif stale:
            self._lag(made, stale)
        made.open()
        return made

    def _id(self, same_id: Application | None, transactional: bool) -> tuple[str | None, int]:
        if same_id is not None:
            return same_id.transactional_id, same_id.coordinator
        return self.lab.placement.transactional_id(LANE, None) if transactional else (None, 0)

    def _started(self, name: str, options: AdapterOptions, coordinator: int) -> Application:
        command = self.client.command
        try:
            adapter = start_adapter(command.command, name=command.name)
        except AdapterFailed as failed:
            raise Unprepared(str(failed)) from failed
        made = Application(
            name=name,
            adapter=adapter,
            options=options,
            coordinator=coordinator,
            proxies=lane_proxies(self.lab),
            request_gate=self.lab.request_gate,
            notes=self.lab.notes,
            now=self.lab.now,
            frames_so_far=lambda: self.frames(name),
        )
        self.applications.append(made)
        return made

    def hang_up(self, *, name: str = "hang up") -> None:
        """End every connection of every application: a client learns the cluster's level with a new one.

        Others on the lane lose theirs too, so a requirement that does it is not ``Order.CALM``.
        """
        with ExitStack() as cuts:
            for proxy in lane_proxies(self.lab).values():
                cuts.enter_context(self.lab.cut(proxy, name=name))

    def _lag(self, application: Application, nodes: Sequence[int]) -> None:
        """Their ApiVersions answers say that every feature is finalized at 1, in the first epoch of features."""
        level: dict[str, Json] = {"max_version_level": 1, "min_version_level": 1, "finalized_features_epoch": 0}
        rule = application.gate("ApiVersions", "rewrite", name="level 1", nodes=nodes, at_most=None, fields=level)
        application.until_closed.enter_context(rule)

    def _cap(self, application: Application, cap: dict[str, int]) -> None:
        """One rule for versions and for the level of features: the first that takes a request decides."""
        rule = application.gate("ApiVersions", "cap", name="older brokers", at_most=None, cap=cap)
        application.until_closed.enter_context(rule)

    def frames(self, application: str) -> Sequence[Frame]:
        """The requests of an application so far; another's name may begin with its name."""
        found = self._evidence(self.frame_gate.frames(f"{self.prefix}{application}"))
        return [frame for frame in found if frame.client_id == application]

    def _evidence(self, frames: Sequence[Frame]) -> list[Frame]:
        """On the run's clock, with short names."""
        clock, notes = self.lab.clock, self.lab.notes
        return [
            replace(
                frame,
                at=clock.at(round(frame.at * 1e6)),
                answered=None if frame.answered is None else clock.at(round(frame.answered * 1e6)),
                client_id=frame.client_id.removeprefix(self.prefix),
                batches=tuple(map(notes.short, frame.batches)),
                request={name: notes.shorten(value) for name, value in frame.request.items()},
            )
            for frame in frames
        ]

    def end(self) -> None:
        """End every application; what one left open is aborted, and its requests become evidence."""
        with ExitStack() as ending:
            for application in self.applications:
                ending.callback(application.close)
        frames = self._evidence(self.frame_gate.frames(self.prefix))
        self.lab.notes.frames += frames
        self._note_versions(frames)
        self.frame_gate.unwatch(self.prefix)
        last = {frame.client_id: frame for frame in frames if frame.api == "EndTxn"}
        refused = {name for name, frame in last.items() if frame.error != 0}  # whatever the library made of it
        unfinished = [each for each in self.applications if not each.ended or each.name in refused]
        self.lab.placement.end_transactions({each.transactional_id: each.coordinator for each in unfinished})

    def _note_versions(self, frames: Sequence[Frame]) -> None:
        """What was spoken, and what of it the brokers advertise; each requirement has these facts."""
        nodes: dict[str, Json] = {}
        for node, offered in self.lab.offered_by.items():
            apis = sorted({frame.api for frame in frames if frame.api in offered.apis})
            nodes[str(node)] = {api: [*offered.apis[api]] for api in apis}
        self.lab.note(SPOKEN, spoken(frames))
        self.lab.note(PROTOCOL, [*protocols(frames)])
        self.lab.note(OFFERED, nodes)


@contextmanager
def client_lab(lab: Lab, client: ClientUnderTest) -> Iterator[ClientLab]:
    """A client's lab for the length of the block; nothing of the client is left running after it.

    :raises OutOfReach: where no gate can stand before the cluster.
    """
    if lab.open_gate is None:
        raise OutOfReach("no gate for single requests can stand before this cluster")
    prefix = f"{lab.belongings.name(lab.requirement, client.library, client.version)}-"
    gate = lab.open_gate()
    try:
        lab.request_gate.stand_in(*lane_proxies(lab).values())
        gate.watch(prefix)
    except GateFailed as failed:
        raise Unprepared(str(failed)) from failed
    for name in ("library", "version"):
        lab.note(name, str(getattr(client, name)))
    made = ClientLab(lab=lab, client=client, frame_gate=gate, prefix=prefix)
    try:
        yield made
    finally:
        made.end()


def lane_proxies(lab: Lab) -> Mapping[int, str]:
    """By node, those that applications are led through; :raises OutOfReach: where there are none."""
    found = {node: proxy for (lane, node), proxy in lab.cluster.topology.lane_proxies.items() if lane == LANE}
    if not found:
        raise OutOfReach("no proxies stand before this cluster, so a client's requests cannot be seen")
    return found
