"""Clock jump: what one broker takes for the time of day is off by seconds, ahead or behind, and then right again.

What reads ``SystemTime.milliseconds`` sees it: when transactions began and time out, when producer ids and
transactional ids expire, when segments roll, timers of the metadata quorum, timeouts of requests between brokers. What
reads ``System.nanoTime`` does not, as with the clock of a real machine: purgatories, the controller's sessions; nor
does what asks the JVM itself (Java's own classes, logs). Needs the power to load rules into a broker. Counts 1 for the
clock, once it was read.
"""

from collections.abc import Mapping
from random import Random

from harness.base.json_value import Json
from harness.contract.byteman.rule_text import rule
from harness.faults.brokers.node_rules import NodeRules
from harness.faults.typed_draws import number

JUMP_MS = (1_000, 4_000)
"""Not further: a transaction that began ahead times out so much later, and settling waits for it."""


def _drawn(draw: Random) -> Mapping[str, Json]:
    return {"ahead_ms": draw.choice((1, -1)) * draw.randint(*JUMP_MS)}


def _ahead_ms(chosen: Mapping[str, Json]) -> int:
    return number(chosen, "ahead_ms")


def _rules(chosen: Mapping[str, Json]) -> str:
    clock, ahead_ms = "org.apache.kafka.common.utils.SystemTime#milliseconds", _ahead_ms(chosen)
    off = f"+ {ahead_ms}" if ahead_ms >= 0 else f"- {-ahead_ms}"
    return rule("the clock is off", clock, f"return $! {off}", at="EXIT")


TOXIC = NodeRules(
    name="clock-jump",
    draw_values=_drawn,
    rules=_rules,
    how="readings of the clock that were off",
    clock_off_ms=_ahead_ms,
)
