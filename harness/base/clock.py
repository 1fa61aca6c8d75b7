"""One clock for a whole run, so that exchanges, faults and samples can be put in order.

Every time in evidence that has no unit in its name is in milliseconds on this clock.
"""

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RunClock:
    """Milliseconds since the run began, from the monotonic clock.

    >>> clock = RunClock()
    >>> clock.now() <= clock.now()
    True
    """

    started_ns: int = field(default_factory=time.monotonic_ns)

    def now(self) -> float:
        """Milliseconds since the run began, with microsecond resolution."""
        return self.at(time.monotonic_ns())

    def at(self, monotonic_ns: int) -> float:
        """A moment that another process of this machine read from the monotonic clock."""
        return round((monotonic_ns - self.started_ns) / 1e6, 3)
