"""Whether the coordinators' log tells in which state a transactional id was when a fault struck."""

from harness.faults.brokers.node_rules import alters_clock
from harness.faults.toxic import Toxic, ToxicReach

CLOCKS_OFF = "a fault put a broker's clock off, so that no state can be put in order with a fault"
COMPACTED = "the coordinators' log is compacted within seconds here, so that states are missing"


def hides_states(toxic: Toxic) -> bool:
    """Whether no round in which it strikes tells states."""
    return alters_clock(toxic) or compacts(toxic)


def compacts(toxic: Toxic) -> bool:
    """Whether it can strike only where ``__transaction_state`` is compacted within seconds."""
    return tuple(toxic.acts_on) == (ToxicReach.SETTINGS,)
