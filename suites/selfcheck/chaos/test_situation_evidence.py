"""What a round notes for situations: the coordinators' log, terms of leaders, and when that says nothing."""

from types import SimpleNamespace

import pytest

from harness.base.clock import RunClock
from harness.base.paths import TOXICS
from harness.chaos.moments.told_by_log import CLOCKS_OFF, COMPACTED
from harness.chaos.observe.situation_evidence import (
    FOREIGN,
    MachineTime,
    leader_terms,
    situation_records,
    why_no_states,
)
from harness.chaos.plan.toxic_catalogue import find_toxics
from harness.evidence.situations.recorded import FaultMoment, StateRecord
from harness.faults.fault_target import FaultTarget
from harness.wire.records.record_batch import LogBatch, Record

COMMIT = (b"\0\0\0\1", b"\0\0\0\0\0\0")


def batch(epoch: int, at_ms: int, *, control: bool = True) -> LogBatch:
    record = Record(offset=0, timestamp_ms=at_ms, key=COMMIT[0], value=COMMIT[1])
    return LogBatch(
        base_offset=0,
        last_offset=0,
        leader_epoch=epoch,
        attributes=0x30 if control else 0x10,
        base_timestamp_ms=at_ms,
        max_timestamp_ms=at_ms,
        producer_id=7,
        producer_epoch=0,
        base_sequence=-1,
        records=(record,),
    )


def test_a_brokers_time_becomes_the_runs() -> None:
    assert MachineTime(RunClock(), 1_000_000.5).run_ms(1_000_100) == 99.5


def test_a_term_lasts_from_its_first_marker_to_its_last_and_records_of_clients_show_none() -> None:
    clock = RunClock()
    batches = [batch(3, 500), batch(3, 400, control=False), batch(3, 700), batch(4, 900, control=False), batch(5, 950)]
    old, new = leader_terms(("accounts", 0), batches, clock)
    assert (old.partition, old.epoch, new.epoch) == ("accounts-0", 3, 5)
    assert old.last_marker - old.first_marker == pytest.approx(200)
    assert new.first_marker == new.last_marker


@pytest.mark.parametrize(
    ("hiding", "owned", "struck", "why"),
    [
        ("clock-jump", False, "kill", FOREIGN),
        ("clock-jump", True, "clock-jump", CLOCKS_OFF),
        ("expire-ids", True, "kill", COMPACTED),
        ("reload-compacted", True, "kill", COMPACTED),
    ],
)
def test_where_the_log_tells_no_states_none_counts_and_the_reason_is_told(
    *, hiding: str, owned: bool, struck: str, why: str
) -> None:
    target = FaultTarget(
        cluster=SimpleNamespace(owned=owned),
        clock=RunClock(),
        client=None,  # type: ignore[arg-type]
        topics={},
    )
    toxics = [find_toxics(TOXICS)[name] for name in ("kill", hiding)]
    moment = FaultMoment(fault=struck, since=1, upto=2)
    lacking = why_no_states(target, [moment], toxics)
    state = StateRecord(at=1, transactional_id="x", state="Empty", producer_id=1, producer_epoch=0, leader_epoch=0)
    kept = situation_records(
        toxics=toxics, groups=False, moments=[moment], held=[], states=[state], terms=[], lacking=lacking
    )
    assert (kept.lacking, kept.recorded.states, kept.recorded.moments) == (why, (), (moment,))
    assert kept.faults == {"kill": ()}
