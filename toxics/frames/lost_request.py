"""A request is lost on its way: nothing was applied, and whoever asked cannot know.

Requests of clients are dropped at the gate; the connection ends in their place, or stays silent.

Needs a proxy on clients' lanes. Struck: requests dropped.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.faults.frame_toxic import Aim, FrameToxic
from harness.faults.gate.rule import Then, When
from harness.faults.typed_draws import number, words

OFTEN = ("Produce", "EndTxn")
ALSO = ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit")


def _drawn(draw: Random) -> Mapping[str, Json]:
    apis: list[Json] = [*draw.sample(OFTEN, draw.randint(1, 2)), *draw.sample(ALSO, draw.randint(0, 2))]
    return {"apis": apis, "percent": draw.randint(10, 60), "hang_up": draw.random() < 0.7}


def _rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    when = When(
        apis=words(chosen, "apis"),
        transactional_ids=aim.transactional_ids,
        transactional=True,
        probability=number(chosen, "percent") / 100,
        seed=aim.seed,
    )
    return when, Then(action="drop-request", hang_up=bool(chosen["hang_up"]))


TOXIC = FrameToxic(name="lost-request", on="lanes", how="requests dropped", drawn=_drawn, rule=_rule)
