"""Bandwidth: a link or lane lets only some kilobytes a second through.

Never less than 4 KB/s, so that a broker's heartbeats still arrive in time. Needs a proxy. Counts bytes of requests that
came while it was on.
"""

from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="bandwidth",
    ranges=(ToxicRange(kind="bandwidth", attributes={"rate": (4, 64)}),),
    disrupts_broker=False,
)
