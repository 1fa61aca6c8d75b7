"""Latency with jitter: what is sent on a link or lane arrives later, in order.

At most 0.6 s and 0.2 s of jitter in each direction, so that a broker's heartbeats still come within its session of 2 s.
Needs a proxy. Counts bytes of requests that came while it was on.
"""

from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="latency",
    ranges=(ToxicRange(kind="latency", attributes={"latency": (20, 600), "jitter": (0, 200)}),),
    disrupts_broker=False,
)
