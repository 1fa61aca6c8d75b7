"""What a stimulus may use beyond requests of its own: metrics, tools, changes; each is asked for where it is used."""

import time
from abc import abstractmethod
from dataclasses import dataclass, field

from harness.base.addresses import Lane
from harness.base.json_value import Json
from harness.base.unprepared import OutOfReach
from harness.base.wait import Patience
from harness.cluster.run_options import Permissions
from harness.contract import Access
from harness.evidence.requirement_evidence import Step
from harness.lab.lab_faults import LabFaults
from harness.lab.partition import Partition
from harness.lab.powers.beyond_requests.metrics import Metric, Metrics
from harness.lab.powers.beyond_requests.operator_tool import Operator, PendingCommand
from harness.lab.powers.idempotent_producer import IdempotentProducer, begun
from harness.lab.powers.upgrades.levels import Levels
from harness.lab.step_recorder import StepRecorder
from harness.wire.requests.cluster.describe_configs import BROKER, DescribeConfigs
from harness.wire.requests.log.delete_records import HIGH_WATERMARK, DeleteRecords


@dataclass(slots=True, kw_only=True)
class LabPowers(LabFaults):
    """The part of a lab that needs more of a target than its protocol."""

    permissions: Permissions = field(default_factory=Permissions)
    patience: Patience = field(default_factory=Patience)

    @abstractmethod
    def step_recorder(self, lane: Lane) -> StepRecorder:
        """The lane's one client."""

    def note(self, name: str, value: Json) -> None:
        """A plain fact for the check, partitions under their short names."""
        self.notes.facts[name] = self.notes.shorten(value)

    def minutes_ago(self, minutes: float) -> int:
        """That moment as a record's timestamp."""
        return round((time.time() - minutes * 60) * 1000)

    @property
    def metrics(self) -> Metrics:
        """What brokers count; see ``metrics``."""
        self.accessed.add(Access.METRICS)
        return Metrics(self.cluster, self.patience, self.note)

    def metric(self, node: int, mbean: str, attribute: str) -> float:
        """A node's metric now; :raises Unprepared: when it keeps none of this name."""
        return self.metrics.known(node, Metric(mbean, attribute))

    @property
    def levels(self) -> Levels:
        """Feature levels as steps; :mod:`harness.lab.powers.upgrades.levels`."""
        return Levels(self.step_recorder("observer"), self.cluster.topology.brokers, self._ask_for_change)

    def idempotent(self, lane: Lane = "victim") -> IdempotentProducer:
        """A producer without a transactional id, with the id that the first broker gave it."""
        return begun(self.step_recorder(lane), self.cluster.topology.brokers[0])

    def delete_records(self, partition: Partition, *, before: int = HIGH_WATERMARK, as_: str | None = None) -> Step:
        """DeleteRecords of what lies before this offset, by default of all; ``low_watermark`` is the new beginning."""
        if self.permissions.topics:
            raise OutOfReach("the records of a topic that was given are not ours to delete")
        recorder = self.step_recorder("observer")
        request = DeleteRecords(topic=partition.topic, partition=partition.index, offset=before)
        version = recorder.client.highest(partition.leader, request.api)
        noted: dict[str, Json] = {"partition": str(partition), "before": before}
        return recorder.ask(partition.leader, request, version, as_=as_, request=noted)

    def described_setting(self, broker: int, key: str, *, as_: str) -> Step:
        """DescribeConfigs of one broker setting: ``configs``, ``origins`` and ``read_only`` by its name."""
        recorder = self.step_recorder("observer")
        request = DescribeConfigs(resource_type=BROKER, resource_name=str(broker), keys=(key,))
        version = recorder.client.highest(broker, request.api)
        return recorder.ask(broker, request, version, as_=as_, request={"broker": broker, "key": key})

    def start_operator(self, command: str, *arguments: str | int, lane: Lane = "observer") -> PendingCommand:
        """Start ``kafka-transactions.sh`` with a sub-command and go on; see ``operator_tool``."""
        self.accessed.add(Access.TOOL)
        ran_by = Operator(self.cluster, lane, self.step_recorder(lane), self._ask_for_change)
        return ran_by.start(command, *arguments)

    def operator(self, command: str, *arguments: str | int, lane: Lane = "observer", as_: str | None = None) -> Step:
        """Run it to its end, over a lane on which a fault may be; the step's error is the exit code."""
        return self.start_operator(command, *arguments, lane=lane).answer(as_=as_)

    def _ask_for_change(self, what: str) -> None:
        """:raises OutOfReach: When the cluster is not ours and changes are not allowed."""
        self.accessed.add(Access.CHANGES)
        if not self.cluster.owned and not self.permissions.changes:
            raise OutOfReach(f"{what} needs --allow-changes on a cluster that is not ours")
