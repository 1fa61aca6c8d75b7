"""Slow close: connections of a link or lane die after some bytes, and their ends learn it late.

After the drawn number of bytes nothing more gets through (``limit_data``), and the connection's end is told only after
a delay (``slow_close``). Not on links to the controller: a broker would lose its session. Needs a proxy. Proof that it
struck: connections that it ended.
"""

from harness.faults.proxy_faults import DIRECTIONS
from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="slow-close",
    stages=(
        ToxicRange(kind="limit_data", measures={"bytes": (0, 500)}),
        ToxicRange(kind="slow_close", measures={"delay": (100, 1_000)}),
    ),
    sides=DIRECTIONS,
    controller=False,
    disrupts_broker=False,
    counted="connections",
)
