"""Reset: a connection of a link or lane ends as soon as something is sent on it, and so does the next one.

New connections end with a TCP reset, those that were open with an ordinary end. Needs a proxy. Proof that it struck:
connections that it ended.
"""

from harness.chaos.proxy_toxic import ProxyToxic, Stage

TOXIC = ProxyToxic(
    name="reset",
    stages=(Stage(kind="reset_peer", measures={"timeout": (0, 200)}),),
    takes_a_broker=True,
    counted="connections",
)
