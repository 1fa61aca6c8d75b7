"""Brokers wait for the coordinator's word whether a partition is in a transaction (KIP-890, AddPartitionsToTxn v4+).

Each such request from broker to broker waits at the gate for a drawn while; those behind it wait too. With Transactions
V2 the same request also adds the partition.

Needs a proxy on the links between brokers, and a release that verifies. Struck: AddPartitionsToTxn requests held.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.faults.frame_toxic import Aim, FrameToxic
from harness.faults.gate.rule import Then, When
from harness.faults.typed_draws import number

BETWEEN_BROKERS = (4, 32_767)


def _drawn(draw: Random) -> Mapping[str, Json]:
    return {"ms": draw.randint(50, 1_500), "percent": draw.randint(30, 100)}


def _rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    when = When(
        apis=("AddPartitionsToTxn",),
        versions=BETWEEN_BROKERS,
        transactional_ids=aim.transactional_ids,
        probability=number(chosen, "percent") / 100,
        seed=aim.seed,
    )
    return when, Then(action="hold", at_most_ms=number(chosen, "ms"))


TOXIC = FrameToxic(
    name="slow-verification", on="links", how="AddPartitionsToTxn requests held", drawn=_drawn, rule=_rule
)
