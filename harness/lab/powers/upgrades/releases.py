"""Other releases for single nodes: upgrades and downgrades in place, with the node's own data."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.base.unprepared import OutOfReach, Unprepared
from harness.base.user_error import UserError
from harness.cluster.cluster import RunRelease
from harness.contract import Access
from harness.evidence.requirement_evidence import Fault
from harness.lab.lab_faults import LabFaults
from harness.lab.powers.brokers.nodes import Nodes
from harness.lab.step_recorder import StepRecorder
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.wire_client import Offered

TARGET = "the target"


@dataclass(frozen=True, slots=True)
class Releases:
    """Starts nodes again with other jars; each start is noted as a fault of kind ``release``.

    :param ask_again: Called when a node runs, because it offers other versions now.
    """

    lab: LabFaults
    nodes: Nodes
    observer: StepRecorder
    ask_again: Callable[[int], Offered]

    def run(self, node: int, release: str | None = None, *, name: str = "release") -> None:
        """Stop the node in order and start its data with a release (``3.9.2``), or with the target's own (None).

        Then every partition is led as before. :raises Unprepared: When the node does not come back.
        """
        if reason := self.refused(node, release, name=name):
            raise Unprepared(f"node {node} did not come back as {release or TARGET}: {reason}")

    def refused(
        self, node: int, release: str | None = None, *, name: str = "release", timeout_seconds: float | None = None
    ) -> str | None:
        """The same, where the node may not be let in: then it is why, with the last lines of the node's log.

        :param timeout_seconds: Within which it must be let in; None for the bound of every start.
        :raises OutOfReach: When other releases cannot be run.
        """
        cluster, started = self.lab.cluster, self.lab.now()
        self.lab.accessed.add(Access.NODES)
        if not isinstance(cluster, RunRelease):
            raise OutOfReach(f"nodes of the {cluster.backend} backend run one release alone")
        self.lab.spent = True
        try:
            cluster.run_release(node, release, timeout_seconds=timeout_seconds)
        except UserError as reason:
            return str(reason)
        finally:
            self._note(node, release, name, started)
        if node in cluster.topology.brokers:
            self.nodes.view.client.learn(node, self.ask_again(node))
            self.nodes.view.await_registered(node)
            self.nodes.lead_as_before()
        self.lab.spent = cluster.altered()
        return None

    def listed(self, *brokers: int, as_: str) -> None:
        """Metadata of each of these: ``brokers`` are those that it takes for alive."""
        for broker in brokers:
            version = self.observer.client.highest(broker, Metadata.api)
            self.observer.ask(broker, Metadata(), version, as_=as_)

    def _note(self, node: int, release: str | None, name: str, started: float) -> None:
        where = f"node {node}, {release or TARGET}"
        self.lab.notes.faults.append(
            Fault(name=name, kind="release", where=where, started=started, ended=self.lab.now())
        )
