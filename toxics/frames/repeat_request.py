"""Repeat request: one arrives twice, and the second must change nothing (KIP-98, «Idempotent Producer Guarantees»).

Produce, EndTxn, AddPartitionsToTxn or TxnOffsetCommit is forwarded twice, one right behind the other; only the first
response goes to the client. Needs a proxy on clients' lanes. Counts requests repeated.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.faults.frame_faults import share_of_requests
from harness.faults.frame_rule import Then, When
from harness.faults.frame_toxic import Aim, FrameToxic

SOMETIMES = ("EndTxn", "AddPartitionsToTxn", "TxnOffsetCommit")


def _draw(draw: Random) -> Mapping[str, Json]:
    apis: list[Json] = ["Produce", *draw.sample(SOMETIMES, draw.randint(0, 3))]
    return {"apis": apis, "percent": draw.randint(20, 100)}


def _rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    return share_of_requests(chosen, aim), Then(action="repeat")


TOXIC = FrameToxic(
    name="repeat-request",
    on="lanes",
    how="requests repeated",
    apis=("Produce", *SOMETIMES),
    draw_values=_draw,
    rule=_rule,
)
