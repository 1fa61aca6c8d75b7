"""Late verification: a transaction ends between a leader's question about a write and the append (KIP-890, part 1).

The coordinator's answer to AddPartitionsToTxn from broker to broker (v4 and above), that the partition is in the
transaction, waits at the gate until EndTxn of the same transactional id was answered without error, and then for a
drawn time more, in which the markers are written: the producer gave its write up and aborted. The leader must not
append what was right when it asked; a client of Transactions V1 has the same epoch afterwards, so that nothing but the
verification guard tells (``UnifiedLog.batchMissingRequiredVerification``, ``VerificationGuard``).

Answers behind it on the same connection wait too, so it waits for some seconds at most; and its producer gives up after
a while only, so that it is on for some seconds at least. Needs proxies on the links between brokers and on clients'
lanes, and a release that verifies. Counts answers held.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.faults.frame_rule import Then, Until, When
from harness.faults.frame_toxic import Aim, FrameToxic
from harness.faults.typed_draws import number
from toxics.frames.slow_verification import BETWEEN_BROKERS


@dataclass(frozen=True, slots=True, kw_only=True)
class LateVerification(FrameToxic):
    """Fills :class:`harness.faults.toxic.MinimumDuration` as well."""

    seconds: float = 8.0


def _draw(draw: Random) -> Mapping[str, Json]:
    return {"every": draw.randint(1, 3), "after_ms": draw.randint(50, 1_000), "at_most_ms": draw.randint(3_000, 6_000)}


def _rule(chosen: Mapping[str, Json], aim: Aim) -> tuple[When, Then]:
    when = When(
        apis=("AddPartitionsToTxn",),
        versions=BETWEEN_BROKERS,
        transactional_ids=aim.transactional_ids,
        seed=aim.seed,
        every=number(chosen, "every"),
    )
    until = Until(apis=("EndTxn",), after_ms=number(chosen, "after_ms"))
    return when, Then(action="hold-response", until=until, at_most_ms=number(chosen, "at_most_ms"))


TOXIC = LateVerification(
    name="late-verification",
    on="links",
    how="answers to AddPartitionsToTxn held",
    apis=("AddPartitionsToTxn",),
    draw_values=_draw,
    rule=_rule,
    sees_lanes=True,
    by_id=False,  # of one id alone too few transactions end in time
)
