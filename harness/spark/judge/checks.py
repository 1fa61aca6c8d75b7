"""All checks, in the order in which a reader wants them. A new one is one module and one line here."""

from harness.spark.judge import (
    agreement,
    availability,
    fenced,
    hanging,
    identities,
    money,
    offsets,
    order,
    records,
    stable_offset,
    uniqueness,
    wholeness,
)
from harness.spark.judge.check import Check

CHECKS: tuple[Check, ...] = (
    records.CHECK,
    uniqueness.CHECK,
    order.CHECK,
    wholeness.CHECK,
    agreement.CHECK,
    money.CHECK,
    offsets.CHECK,
    identities.CHECK,
    fenced.CHECK,
    hanging.CHECK,
    stable_offset.CHECK,
    availability.CHECK,
)
