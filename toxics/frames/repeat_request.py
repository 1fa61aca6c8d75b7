"""A request comes twice: the second must change nothing (KIP-98, «Idempotent Producer Guarantees»).

Produce, EndTxn, AddPartitionsToTxn or TxnOffsetCommit is forwarded twice, one right behind the other; only the first
is answered.

Needs a proxy on clients' lanes. Struck: requests repeated.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.faults.frame_toxic import Aim, FrameToxic
from harness.faults.gate.rule import Then, When
from harness.faults.typed_draws import number, words

ALSO = ("EndTxn", "AddPartitionsToTxn", "TxnOffsetCommit")


def _drawn(draw: Random) -> Mapping[str, Json]:
    apis: list[Json] = ["Produce", *draw.sample(ALSO, draw.randint(0, 3))]
    return {"apis": apis, "percent": draw.randint(20, 100)}


def _rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    when = When(
        apis=words(chosen, "apis"),
        transactional_ids=aim.transactional_ids,
        transactional=True,
        probability=number(chosen, "percent") / 100,
        seed=aim.seed,
    )
    return when, Then(action="repeat")


TOXIC = FrameToxic(name="repeat-request", on="lanes", how="requests repeated", drawn=_drawn, rule=_rule)
