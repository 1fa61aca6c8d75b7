"""Reset: a connection of a link or lane ends as soon as something is sent on it, and so does the next one.

New connections end with a TCP reset, those that were open with an ordinary end. Needs a proxy. Counts connections that
it ended.
"""

from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="reset",
    ranges=(ToxicRange(kind="reset_peer", attributes={"timeout": (0, 200)}),),
    disrupts_broker=True,
    counted="connections",
)
