"""How often Python looks for objects that refer to each other in a circle; all others it frees at once."""

import gc

THRESHOLDS = (50_000, 20, 20)
"""New objects before a search among them, and searches among the youngest before one among older ones. Python's own
numbers begin with 700, which a crowd makes within milliseconds: a fifth of the harness's CPU went into searches."""


def collect_garbage_rarely() -> None:
    """Search for circles less often in this process."""
    gc.set_threshold(*THRESHOLDS)
