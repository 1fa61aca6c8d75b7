"""One number fixes everything that a run draws: names, values and schedules.

Each consumer draws from its own stream, derived from the seed and the consumer's name, so that adding a requirement
does not change what the others draw.
"""

import random
import secrets
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seed:
    """The run's seed.

    >>> Seed(7).stream("a").random() == Seed(7).stream("a").random()
    True
    >>> Seed(7).stream("a").random() == Seed(7).stream("b").random()
    False
    """

    value: int

    @classmethod
    def fresh(cls) -> "Seed":
        """A seed nobody chose; print it, or the run cannot be repeated."""
        return cls(secrets.randbelow(2**31))

    def stream(self, consumer: str) -> random.Random:
        """The consumer's own stream of draws."""
        return random.Random(f"{self.value}/{consumer}")
