"""The lab: the language in which a stimulus is written.

Raw transactional producers on lanes of their own, partitions with a chosen leader, an observer that is never
disturbed, an administrator. Everything that goes over the wire is recorded; what the stimulus names becomes a step of
the evidence.
"""

from harness.lab.lab import Lab
from harness.lab.partition import Group, Partition
from harness.lab.powers.request_gate import GateAction
from harness.lab.producer import PendingRequest, Producer
from harness.lab.step_recorder import Unprepared

__all__ = ["GateAction", "Group", "Lab", "Partition", "PendingRequest", "Producer", "Unprepared"]
