"""The seed of a run: one number fixes every random choice, so that names, values and schedules can be repeated.

Each consumer has a random stream of its own, derived from the seed and the consumer's name, so that adding a
requirement does not change what the others draw.
"""

import random
import secrets
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seed:
    """The seed of a run.

    >>> Seed(7).stream("a").random() == Seed(7).stream("a").random()
    True
    >>> Seed(7).stream("a").random() == Seed(7).stream("b").random()
    False
    """

    value: int

    @classmethod
    def fresh(cls) -> "Seed":
        """A random seed; print it, or the run cannot be repeated."""
        return cls(secrets.randbelow(2**31))

    def stream(self, consumer: str) -> random.Random:
        """The random stream of one consumer; equal for equal seeds and names."""
        return random.Random(f"{self.value}/{consumer}")
