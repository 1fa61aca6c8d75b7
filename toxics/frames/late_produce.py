"""Late produce: a record of a transaction arrives after the transaction has ended (KIP-890, «Hanging Transactions»).

Produce waits at the gate until EndTxn of the same transactional id was answered without error, and then for a drawn
time more, in which the markers are written. Its sender gives up, or its connection ends at once; it aborts, and the
record comes in the old epoch. A broker without the defence (3.5 with clients of Transactions V1) appends it: a
transaction that nobody ends. With ``persistent`` retries wait too, so the sender cannot but give up (after its
``request_ms``: let the strike last longer); without, the retry succeeds and the first try comes late.

Needs a proxy on clients' lanes. Counts Produce requests held.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.faults.frame_rule import Then, Until, When
from harness.faults.frame_toxic import Aim, FrameToxic
from harness.faults.typed_draws import number

AT_MOST_MS = 15_000


def _draw(draw: Random) -> Mapping[str, Json]:
    return {
        "every": draw.randint(1, 4),
        "after_ms": draw.randint(20, 400),
        "persistent": draw.random() < 0.5,
        "hang_up": draw.random() < 0.7,
    }


def _rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    when = When(
        apis=("Produce",),
        transactional_ids=aim.transactional_ids,
        transactional=True,
        seed=aim.seed,
        every=1 if chosen["persistent"] else number(chosen, "every") + 1,
    )
    until = Until(apis=("EndTxn",), after_ms=number(chosen, "after_ms"))
    hang_up = bool(chosen["hang_up"])
    return when, Then(action="hold", until=until, at_most_ms=AT_MOST_MS, alone=True, hang_up=hang_up)


TOXIC = FrameToxic(
    name="late-produce",
    on="lanes",
    how="Produce requests held",
    apis=("Produce",),
    draw_values=_draw,
    rule=_rule,
)
