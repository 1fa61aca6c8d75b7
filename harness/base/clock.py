"""One clock for a whole run, so that exchanges, faults and samples can be put in order.

Times are milliseconds since the run began, from the monotonic clock; the wall-clock start is kept once for the reader.
"""

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RunClock:
    """Milliseconds since the run began.

    >>> clock = RunClock()
    >>> clock.now() <= clock.now()
    True
    """

    started_wall: float = field(default_factory=time.time)
    started_ns: int = field(default_factory=time.monotonic_ns)

    def now(self) -> float:
        """Milliseconds since the run began, with microsecond resolution."""
        return round((time.monotonic_ns() - self.started_ns) / 1e6, 3)
