"""Where transactions wait for each other, so that hundreds are open at once."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

LONGEST_SECONDS = 2.0
"""That one waits for the others; some may be away."""
SPREAD_SECONDS = 1.0
"""Within which they end, in any order."""


@dataclass(slots=True)
class Gathering:
    """Lets all go on once ``size`` are there."""

    size: int
    over: asyncio.Event
    _there: int = 0
    _all_there: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, draw: Random) -> None:
        """Wait for the others, and then a while of one's own."""
        spread = draw.uniform(0, SPREAD_SECONDS)
        self._there += 1
        if self._there >= self.size:
            self._let_go()
        await _at_most(self._all_there, LONGEST_SECONDS)
        await _at_most(self.over, spread)

    def _let_go(self) -> None:
        self._all_there.set()
        self._there, self._all_there = 0, asyncio.Event()


async def _at_most(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
