"""How long an operation may still take."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock, in seconds."""

    at: float

    @classmethod
    def of_ms(cls, milliseconds: float) -> "Deadline":
        """That long from now."""
        return cls(time.monotonic() + milliseconds / 1000)

    @property
    def left(self) -> float:
        """Seconds left, at least a millisecond, so that a last request is still sent."""
        return max(0.001, self.at - time.monotonic())

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.at
