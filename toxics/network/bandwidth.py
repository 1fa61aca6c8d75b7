"""Bandwidth: a link or lane lets only some kilobytes a second through.

Needs a proxy. Never less than 4 KB/s: a broker's heartbeats fit in that. Proof that it struck: bytes of requests that
came while it was on.
"""

from harness.chaos.proxy_toxic import ProxyToxic, Stage

TOXIC = ProxyToxic(
    name="bandwidth",
    stages=(Stage(kind="bandwidth", measures={"rate": (4, 64)}),),
    takes_a_broker=False,
)
