"""One-way cut: on a link or lane only requests vanish, or only responses do.

Where responses vanish, the server has done what it was asked, and the asker never knows. Needs a proxy. Proof that it
struck: bytes of requests that came while it was on.
"""

from harness.faults.proxy_faults import DIRECTIONS
from harness.faults.proxy_toxic import ProxyToxic, ToxicRange

TOXIC = ProxyToxic(
    name="one-way-cut",
    stages=(ToxicRange(kind="timeout", measures={"timeout": (0, 0)}),),
    sides=DIRECTIONS,
    disrupts_broker=True,
)
