"""Samples of high watermark and last stable offset beside the workload, over the observer's lane.

They tell since when a last stable offset has not moved, and are what the timeline draws. A broker that is away gives no
sample; one that does not answer is not asked again until it has, so that nothing piles up on it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

from harness.chaos.lookout import Lookout, Place
from harness.clock import RunClock
from harness.cluster.topology import Address
from harness.history.chronicle import Chronicle
from harness.history.operation import Level
from harness.wire.client import Pending
from harness.wire.errors import NoAnswer, WireError
from harness.wire.verbs.fetch_levels import BY_NAME, FetchLevels, FetchLevelsResult

EVERY = 0.2
"""Seconds between two samples."""
PATIENCE = 0.5
"""Seconds that a sample waits for its answers; a late one is taken with the next sample, at the time when it came."""
FORSAKEN = 5.0
"""Seconds after which an unanswered connection is given up for a new one."""
LOOKED_UP = 10
"""Samples between two looks at who leads."""


@dataclass(slots=True, kw_only=True)
class Sampler:
    """One look at all partitions at a time; see :func:`sampling` for one that goes on by itself.

    :param samples: Rows written so far.
    """

    lookout: Lookout
    places: Sequence[Place]
    chronicle: Chronicle
    samples: int = 0
    _looks: int = 0
    _asked: dict[int, tuple[Pending[FetchLevelsResult], float]] = field(default_factory=dict)

    def look(self) -> None:
        """Ask every leader that owes no answer, and write what has come."""
        if self._looks % LOOKED_UP == 0:
            self.lookout.forget(self.places)
        self._looks += 1
        for leader, led in self.lookout.leaders(self.places).items():
            if leader not in self._asked:
                self._ask(leader, led)
        deadline = time.monotonic() + PATIENCE
        for leader in tuple(self._asked):
            self._take(leader, max(0.0, deadline - time.monotonic()))

    def _ask(self, leader: int, led: Sequence[Place]) -> None:
        client = self.lookout.client
        try:
            pending = client.send(leader, FetchLevels(partitions=led), client.highest(leader, "Fetch", BY_NAME))
        except WireError:
            self.lookout.forget(led)
        else:
            self._asked[leader] = (pending, time.monotonic())

    def _take(self, leader: int, within: float) -> None:
        pending, since = self._asked[leader]
        try:
            answer = pending.wait(within)
        except NoAnswer:
            if time.monotonic() - since > FORSAKEN:
                self.lookout.client.close()
            return
        except WireError:
            self.lookout.forget(self.places)
        else:
            self._write(answer.result, answer.exchange.answered)
        del self._asked[leader]

    def _write(self, result: FetchLevelsResult, at: float | None) -> None:
        assert at is not None, "an answer has a time"
        self.lookout.forget(place for place, error in result.partitions.items() if error)
        rows = [
            Level(at=at, topic=topic, partition=index, high_watermark=high, last_stable_offset=stable)
            for (topic, index), (high, stable) in result.levels.items()
        ]
        self.chronicle.write(*rows)
        self.samples += len(rows)


@contextmanager
def sampling(
    addresses: Mapping[int, Address],
    places: Sequence[Place],
    chronicle: Chronicle,
    clock: RunClock,
    *,
    every: float = EVERY,
) -> Iterator[Sampler]:
    """Samples of all partitions every ``every`` seconds from a thread of their own, for the length of the block."""
    lookout = Lookout.over(addresses, clock)
    lookout.patience = PATIENCE
    sampler = Sampler(lookout=lookout, places=places, chronicle=chronicle)
    over = Event()

    def go_on() -> None:
        while not over.wait(every):
            sampler.look()

    thread = Thread(target=go_on, name="levels", daemon=True)
    thread.start()
    try:
        yield sampler
    finally:
        over.set()
        lookout.close()  # whoever waits for an answer waits no longer
        thread.join()
        lookout.close()
