"""Late EndTxn: the end of a transaction arrives when the next one has begun (KIP-890, «Late EndTxn»).

Every EndTxn of one transactional id waits at the gate, in the order of its connection, until a Produce of the same id
was acknowledged: the next transaction, of its successor. Then it must be refused as fenced. Requests of one
connection never overtake each other and no connection is cut, because a client of Transactions V1 that repeats an
EndTxn in the same epoch has no defence against its own first try, in any release.

Needs a proxy on clients' lanes. Counts EndTxn requests held.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.faults.frame_rule import Then, Until, When
from harness.faults.frame_toxic import Aim, FrameToxic
from harness.faults.typed_draws import number


def _draw(draw: Random) -> Mapping[str, Json]:
    return {"at_most_ms": draw.randint(1_000, 10_000)}


def _rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    when = When(apis=("EndTxn",), transactional_ids=aim.transactional_ids, seed=aim.seed)
    return when, Then(action="hold", until=Until(apis=("Produce",)), at_most_ms=number(chosen, "at_most_ms"))


TOXIC = FrameToxic(
    name="late-end-txn",
    on="lanes",
    how="EndTxn requests held",
    apis=("EndTxn",),
    draw_values=_draw,
    rule=_rule,
)
