"""The clients of one requirement: one a lane, opened at first use, each recording into the one journal."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.addresses import Lane
from harness.base.clock import RunClock
from harness.base.wait import Patience
from harness.cluster.topology import Topology
from harness.evidence.recorder import NullRecorder, Recorder
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.step_recorder import StepRecorder
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
    _opened: dict[Lane, StepRecorder] = field(default_factory=dict)

    def step_recorder(self, lane: Lane) -> StepRecorder:
        """The lane's one client, opened at first use."""
        if lane not in self._opened:
            self._opened[lane] = StepRecorder(
                lane, self._client(lane), self.notes, self.clock, self._proxies(lane), self.patience
            )
        return self._opened[lane]

    def unrecorded(self, client_id: str) -> WireClient:
        """Another client on the observer's lane under this name, whose exchanges are not kept; its user closes it."""
        return WireClient(
            actor=client_id,
            lane="observer",
            addresses=self.topology.lanes["observer"],
            clock=self.clock,
            recorder=NullRecorder(),
            offered=self.offered_by,
            security=self.topology.secured("observer"),
        )

    def close(self) -> None:
        """Close every client; requests without an answer are recorded as such."""
        for step_recorder in self._opened.values():
            step_recorder.client.close()

    def _client(self, lane: Lane) -> WireClient:
        return WireClient(
            actor=lane,
            lane=lane,
            addresses=self.topology.lanes[lane],
            clock=self.clock,
            recorder=self.recorder,
            requirement=self.requirement,
            offered=self.offered_by,
            security=self.topology.secured(lane),
        )

    def _proxies(self, lane: Lane) -> Mapping[int, str]:
        return {node: proxy for (of, node), proxy in self.topology.lane_proxies.items() if of == lane}
