"""Blackhole: a link or lane swallows everything, both ways, and its connections stay open.

Needs a proxy. Nobody is told: senders wait until their own timeouts, or until it is healed, when the connections end.
Proof that it struck: bytes of requests that came while it was on.
"""

from harness.faults.proxy_toxic import BOTH, ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="blackhole",
    stages=(ToxicRange(kind="timeout", measures={"timeout": (0, 0)}),),
    sides=(BOTH,),
    disrupts_broker=True,
)
