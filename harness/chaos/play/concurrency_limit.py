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

    :param least: And ``most``: bounds of the limit, which begins with the least.
    :param limit: How many may be under way now; ``highest``: that it has been.
    """

    least: int
    most: int
    limit: float = field(init=False)
    highest: float = field(init=False)
    under_way: int = 0
    _waiting: "deque[asyncio.Future[None]]" = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.limit = self.highest = self.least

    async def __aenter__(self) -> None:
        """Wait until one more may be under way."""
        await self._enter()

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    async def let_others(self) -> None:
        """Whoever waits comes first; then it is one's turn again."""
        self._leave()
        await self._enter()

    def took(self, seconds: float, *, done: bool) -> None:
        """To end a transaction took so long; what was not done has taken too long."""
        in_time = done and seconds < WANTED_SECONDS
        self.limit = min(max(self.limit + (STEP if in_time else -STEP), self.least), self.most)
        self.highest = max(self.highest, self.limit)

    async def _enter(self) -> None:
        if self.under_way < self.limit and not self._waiting:
            self.under_way += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def _leave(self) -> None:
        self.under_way -= 1
        while self._waiting and self.under_way < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self.under_way += 1
                turn.set_result(None)
