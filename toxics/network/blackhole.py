"""Blackhole: a link or lane discards everything, both ways, and its connections stay open.

Senders wait until their own timeouts, or until the fault is healed, when the connections end. Needs a proxy. Counts
bytes of requests that came while it was on.
"""

from harness.faults.proxy_toxic import BOTH, ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="blackhole",
    ranges=(ToxicRange(kind="timeout", attributes={"timeout": (0, 0)}),),
    directions=(BOTH,),
    disrupts_broker=True,
)
