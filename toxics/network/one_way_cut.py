"""One-way cut: on a link or lane only requests are lost, or only responses.

Where responses are lost, the server has done what it was asked, and the sender never knows. Needs a proxy. Counts bytes
of requests that came while it was on.
"""

from harness.faults.proxy_faults import DIRECTIONS
from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="one-way-cut",
    ranges=(ToxicRange(kind="timeout", attributes={"timeout": (0, 0)}),),
    directions=DIRECTIONS,
    disrupts_broker=True,
)
