"""Slow close: connections of a link or lane break after some bytes, and their ends learn it late.

After the drawn number of bytes nothing more gets through (``limit_data``), and the end of the connection is passed on
only after a delay (``slow_close``). Not on links to the controller: a broker would lose its session. Needs a proxy.
Counts connections that it ended.
"""

from harness.faults.proxy_faults import DIRECTIONS
from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="slow-close",
    ranges=(
        ToxicRange(kind="limit_data", attributes={"bytes": (0, 500)}),
        ToxicRange(kind="slow_close", attributes={"delay": (100, 1_000)}),
    ),
    directions=DIRECTIONS,
    controller=False,
    disrupts_broker=False,
    counted="connections",
)
