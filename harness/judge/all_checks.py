"""All checks, in the order in which a reader wants them. A new one is one module and one line here."""

from harness.judge.check import Check
from harness.judge.checks import (
    atomicity,
    availability,
    committed_records,
    fencing,
    group_offsets,
    hanging,
    identities,
    last_stable_offset,
    model_order,
    money,
    reader_agreement,
    record_order,
    traffic,
    uniqueness,
)

CHECKS: tuple[Check, ...] = (
    committed_records.CHECK,
    uniqueness.CHECK,
    record_order.CHECK,
    atomicity.CHECK,
    reader_agreement.CHECK,
    money.CHECK,
    group_offsets.CHECK,
    identities.CHECK,
    fencing.CHECK,
    model_order.CHECK,
    hanging.CHECK,
    last_stable_offset.CHECK,
    availability.CHECK,
    traffic.CHECK,
)
