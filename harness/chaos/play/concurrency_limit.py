"""How many transactions of a crowd are under way: as many as leave their brokers time to answer.

A broker that has just begun is a tenth as fast as the same one two minutes later. What it is asked beyond what it can
do waits until its clients give up, and is done in vain; a fast one answers and replicates more together the more ask.
How busy brokers are is told by how long they take to end a transaction: EndTxn waits for one replicated record and for
nothing else (``TransactionCoordinator.endTransaction``), while records also wait for markers, verifications and faults.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field

WANTED_SECONDS = 0.25
"""Of EndTxn: where half of them take longer, fewer transactions are under way, and more where half take less."""
STEP = 0.2
"""By which the end of one transaction changes the limit."""


@dataclass(slots=True, kw_only=True)
class ConcurrencyLimit:
    """Shared by the seats of one event loop, which come in the order in which they asked.

    Only where none of those who have begun waits does another one join: each that joins opens connections and asks
    for a producer id, so that no more do than there is room for.

    :param least: And ``most``: bounds of the limit. :param limit: How many may be under way now, and at first.
    :param most_under_way: The most that were at once.
    """

    least: int
    most: int
    limit: float
    under_way: int = 0
    most_under_way: int = 0
    _going_on: "deque[asyncio.Future[None]]" = field(default_factory=deque)
    _joining: "deque[asyncio.Future[None]]" = field(default_factory=deque)

    async def join(self) -> None:
        """Wait until one more may be under way than of those who have begun."""
        await self._enter(self._joining)

    async def let_others(self) -> None:
        """Whoever has begun and waits comes first; then it is one's turn again."""
        if self._going_on or self.under_way > self.limit:
            self.leave()
            await self._enter(self._going_on)

    def leave(self) -> None:
        """One is under way no longer."""
        self.under_way -= 1
        self._admit()

    def took(self, seconds: float, *, done: bool) -> None:
        """To end a transaction took so long; what was not done has taken too long."""
        in_time = done and seconds < WANTED_SECONDS
        self.limit = min(max(self.limit + (STEP if in_time else -STEP), self.least), self.most)
        self._admit()

    async def _enter(self, queue: "deque[asyncio.Future[None]]") -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._admit()
        await turn

    def _admit(self) -> None:
        """As many of those who wait as there is room for."""
        while (waiting := self._going_on or self._joining) and self.under_way < self.limit:
            turn = waiting.popleft()
            if not turn.done():
                self.under_way += 1
                self.most_under_way = max(self.most_under_way, self.under_way)
                turn.set_result(None)
