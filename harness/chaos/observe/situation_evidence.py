"""What a round notes for :mod:`harness.evidence.situations`: the coordinators' own log, and terms of leaders.

Brokers stamp what they append with the machine's time, which becomes the run's only where they run on this machine and
no fault alters what they take for the time. Of other rounds nothing is said, nor where the log is compacted meanwhile.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base.clock import RunClock
from harness.chaos.moments.struck_requests import requests_by_fault
from harness.chaos.moments.told_by_log import CLOCKS_OFF, COMPACTED, compacts, hides_states
from harness.evidence.situations.kept_situations import KeptRecords
from harness.evidence.situations.recorded import FaultMoment, HeldRequest, LeaderTerm, RoundRecords, StateRecord
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import Toxic
from harness.wire.records.record_batch import LogBatch
from harness.wire.topic_partitions import TopicPartition, partition_name

FOREIGN = "the brokers' clocks are not this machine's, so that no state can be put in order with a fault"


@dataclass(frozen=True, slots=True)
class MachineTime:
    """Milliseconds since 1970 as times of the run, by what both clocks show now."""

    clock: RunClock
    offset_ms: float

    @classmethod
    def of(cls, clock: RunClock) -> "MachineTime":
        return cls(clock, time.time() * 1000 - clock.now())

    def run_ms(self, since_1970_ms: int) -> float:
        """A broker's time on the run's clock."""
        return round(since_1970_ms - self.offset_ms, 3)


def leader_terms(partition: TopicPartition, batches: Sequence[LogBatch], clock: RunClock) -> Iterator[LeaderTerm]:
    """One for each epoch whose leader appended a control marker."""
    machine, markers = MachineTime.of(clock), dict[int, list[int]]()
    for batch in batches:
        if batch.marker is not None:
            markers.setdefault(batch.leader_epoch, []).append(batch.base_timestamp_ms)
    for epoch, times in markers.items():
        first, last = machine.run_ms(times[0]), machine.run_ms(times[-1])
        yield LeaderTerm(partition=partition_name(*partition), epoch=epoch, first_marker=first, last_marker=last)


def situation_records(
    *,
    toxics: Sequence[Toxic],
    groups: bool,
    moments: Sequence[FaultMoment],
    held: Sequence[HeldRequest],
    states: Sequence[StateRecord],
    terms: Sequence[LeaderTerm],
    lacking: str,
) -> KeptRecords:
    """All of a round.

    :param toxics: Those that can strike.
    :param lacking: Why the log tells no states; then none counts.
    """
    recorded = RoundRecords(
        states=tuple(states) if not lacking else (),
        moments=tuple(moments),
        held=tuple(held),
        terms=tuple(terms) if not lacking else (),
    )
    faults = requests_by_fault([toxic for toxic in toxics if not hides_states(toxic)])
    return KeptRecords(faults=faults, groups=groups, recorded=recorded, lacking=lacking)


def why_no_states(fault_target: FaultTarget, moments: Sequence[FaultMoment], toxics: Sequence[Toxic]) -> str:
    """Why the coordinators' log tells no states of a round with these toxics; empty where it does."""
    hiding = [toxic for toxic in toxics if hides_states(toxic)]
    if not fault_target.cluster.owned:
        return FOREIGN
    if any(map(compacts, hiding)):
        return COMPACTED
    struck = {moment.fault for moment in moments}
    return CLOCKS_OFF if any(toxic.name in struck for toxic in hiding) else ""
