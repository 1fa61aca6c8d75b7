"""Hold a link or a lane: what is sent is kept back until the hold ends, and then arrives at once and in order.

A Toxiproxy ``latency`` toxic of hours; removing it delivers the held bytes. They survive the sender's disconnect.
Needs a proxy. Counts bytes of requests that came while it was on. A requirement holds a proxy by ``lab.hold``.
"""

from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

HOURS_MS = 6 * 3600 * 1000
TOXIC = ProxyToxic(
    name="hold",
    ranges=(ToxicRange(kind="latency", attributes={"latency": (HOURS_MS, HOURS_MS)}),),
    directions=("upstream",),
    disrupts_broker=True,
)
