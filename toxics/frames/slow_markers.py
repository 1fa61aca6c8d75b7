"""Markers come late: a transaction is ended for its coordinator, and not yet for its partitions (WriteTxnMarkers).

Each WriteTxnMarkers from broker to broker waits at the gate for a drawn while; those behind it wait too.

Needs a proxy on the links between brokers. Struck: WriteTxnMarkers requests held.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.faults.frame_toxic import Aim, FrameToxic
from harness.faults.gate.rule import Then, When
from harness.faults.typed_draws import number


def _drawn(draw: Random) -> Mapping[str, Json]:
    return {"ms": draw.randint(50, 1_500), "percent": draw.randint(30, 100)}


def _rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    when = When(apis=("WriteTxnMarkers",), probability=number(chosen, "percent") / 100, seed=aim.seed)
    return when, Then(action="hold", at_most_ms=number(chosen, "ms"))


TOXIC = FrameToxic(
    name="slow-markers", on="links", how="WriteTxnMarkers requests held", drawn=_drawn, rule=_rule, by_id=False
)
