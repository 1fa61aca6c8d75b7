"""Blackhole: a link or lane swallows everything, both ways, and its connections stay open.

Needs a proxy. Nobody is told: senders wait until their own timeouts, or until it is healed, when the connections end.
Proof that it struck: bytes of requests that came while it was on.
"""

from harness.chaos.proxy_toxic import BOTH, ProxyToxic, Stage

TOXIC = ProxyToxic(
    name="blackhole",
    stages=(Stage(kind="timeout", measures={"timeout": (0, 0)}),),
    sides=(BOTH,),
    takes_a_broker=True,
)
