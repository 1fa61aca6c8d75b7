"""All checks, in the order in which a reader wants them. A new one is one module and one line here."""

from harness.judge.check import Check
from harness.judge.checks import (
    atomicity,
    committed_records,
    fencing,
    group_offsets,
    identities,
    model_order,
    money,
    reader_agreement,
    record_order,
    traffic,
    uniqueness,
)
from harness.judge.checks.settled import availability, descriptions, hanging, last_stable_offset

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
    descriptions.CHECK,
    availability.CHECK,
    traffic.CHECK,
)
