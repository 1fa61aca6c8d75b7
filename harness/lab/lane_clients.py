"""The clients of one requirement: one a lane, opened at first use, each recording into the one journal."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock

from harness.base.addresses import Address, Lane
from harness.base.clock import RunClock
from harness.base.wait import Patience
from harness.cluster.observer_client import observer_client
from harness.cluster.topology import Topology
from harness.evidence.recorder import Recorder
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.step_recorder import StepRecorder
from harness.wire.security.security import Security
from harness.wire.wire_client import Offered, WireClient


@dataclass(slots=True, kw_only=True)
class LaneClients:
    """See the module's docstring; the lab closes it."""

    topology: Topology
    offered_by: Mapping[int, Offered]
    requirement: str
    clock: RunClock
    recorder: Recorder
    notes: EvidenceBuilder
    patience: Patience
    _opened: dict[str, StepRecorder] = field(default_factory=dict)
    _held: Lock = field(default_factory=Lock)
    _over: bool = False

    def step_recorder(self, lane: Lane) -> StepRecorder:
        """The lane's one client, opened at first use."""
        with self._held:
            if lane not in self._opened:
                self._opened[lane] = replace(self._of_lane(lane), another=partial(self.another, lane))
            return self._opened[lane]

    def another(self, lane: Lane) -> StepRecorder:
        """One more client on a lane: of one connection, a broker serves a request after the other."""
        with self._held:
            made = self._opened[f"{lane}, {len(self._opened)}"] = self._of_lane(lane)
        return made

    def ask_again(self, node: int) -> Offered:
        """Learn anew what a node offers: it runs another release than before."""
        offered = self.step_recorder("observer").client.refresh(node)
        self.offered_by = {**self.offered_by, node: offered}
        for step_recorder in self._all():
            step_recorder.client.learn(node, offered)
        return offered

    def unrecorded(self, client_id: str) -> WireClient:
        """Another client on the observer's lane under this name, whose exchanges are not kept; its user closes it."""
        return observer_client(self.topology, self.clock, actor=client_id, offered=self.offered_by)

    def of_user(self, user: str, addresses: Mapping[int, Address], security: Security) -> StepRecorder:
        """A named user's one client, on a listener beside the lanes; no proxy is in front."""
        with self._held:
            if user not in self._opened:
                self._opened[user] = self._recorder_of(user, self._client(user, "users", addresses, security), {})
            return self._opened[user]

    def close(self) -> None:
        """Close every client, from any thread; requests without an answer are recorded as such.

        One that another thread opens from now on is closed as soon as it is there.
        """
        with self._held:
            self._over = True
        for step_recorder in self._all():
            step_recorder.client.close()

    def _all(self) -> tuple[StepRecorder, ...]:
        with self._held:
            return tuple(self._opened.values())

    def _of_lane(self, lane: Lane) -> StepRecorder:
        client = self._client(lane, lane, self.topology.lanes[lane], self.topology.secured(lane))
        return self._recorder_of(lane, client, self._proxies(lane))

    def _recorder_of(self, actor: str, client: WireClient, proxies: Mapping[int, str]) -> StepRecorder:
        return StepRecorder(actor, client, self.notes, self.clock, proxies, self.patience)

    def _client(self, actor: str, lane: str, addresses: Mapping[int, Address], security: Security) -> WireClient:
        client = WireClient(
            actor=actor,
            lane=lane,
            addresses=addresses,
            clock=self.clock,
            recorder=self.recorder,
            requirement=self.requirement,
            offered=self.offered_by,
            security=security,
        )
        if self._over:
            client.close()
        return client

    def _proxies(self, lane: Lane) -> Mapping[int, str]:
        return {node: proxy for (of, node), proxy in self.topology.lane_proxies.items() if of == lane}
