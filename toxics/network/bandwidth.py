"""Bandwidth: a link or lane lets only some kilobytes a second through.

Needs a proxy. Never less than 4 KB/s: a broker's heartbeats fit in that. Proof that it struck: bytes of requests that
came while it was on.
"""

from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="bandwidth",
    stages=(ToxicRange(kind="bandwidth", measures={"rate": (4, 64)}),),
    disrupts_broker=False,
)
