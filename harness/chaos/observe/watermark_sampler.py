"""Samples of high watermark and last stable offset beside the workload, over the observer's lane.

They tell since when a last stable offset has not moved, and are what the timeline draws. A broker that is away gives no
sample; one that does not answer is not asked again until it has, so that nothing piles up on it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.evidence.history_writer import HistoryWriter
from harness.evidence.operation import WatermarkSample
from harness.kafka.leader_client import LeaderClient, TopicPartition
from harness.wire.requests.log.fetch_watermarks import BY_NAME, FetchWatermarks, FetchWatermarksResult
from harness.wire.wire_client import PendingResponse
from harness.wire.wire_errors import NoAnswer, WireError

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

    leader_client: LeaderClient
    places: Sequence[TopicPartition]
    history_writer: HistoryWriter
    samples: int = 0
    _looks: int = 0
    _asked: dict[int, tuple[PendingResponse[FetchWatermarksResult], float]] = field(default_factory=dict)

    def look(self) -> None:
        """Ask every leader that owes no answer, and write what has come."""
        if self._looks % LOOKED_UP == 0:
            self.leader_client.forget(self.places)
        self._looks += 1
        for leader, led in self.leader_client.leaders(self.places).items():
            if leader not in self._asked:
                self._ask(leader, led)
        deadline = time.monotonic() + PATIENCE
        for leader in tuple(self._asked):
            self._take(leader, max(0.0, deadline - time.monotonic()))

    def _ask(self, leader: int, led: Sequence[TopicPartition]) -> None:
        client = self.leader_client.client
        try:
            pending = client.send(leader, FetchWatermarks(partitions=led), client.highest(leader, "Fetch", BY_NAME))
        except WireError:
            self.leader_client.forget(led)
        else:
            self._asked[leader] = (pending, time.monotonic())

    def _take(self, leader: int, within: float) -> None:
        pending, since = self._asked[leader]
        try:
            answer = pending.wait(within)
        except NoAnswer:
            if time.monotonic() - since > FORSAKEN:
                self.leader_client.client.close()
            return
        except WireError:
            self.leader_client.forget(self.places)
        else:
            self._write(answer.result, answer.exchange.answered)
        del self._asked[leader]

    def _write(self, result: FetchWatermarksResult, at: float | None) -> None:
        assert at is not None, "an answer has a time"
        self.leader_client.forget(place for place, error in result.partitions.items() if error)
        rows = [
            WatermarkSample(at=at, topic=topic, partition=index, high_watermark=high, last_stable_offset=stable)
            for (topic, index), (high, stable) in result.levels.items()
        ]
        self.history_writer.write(*rows)
        self.samples += len(rows)


@contextmanager
def sampling(
    addresses: Mapping[int, Address],
    places: Sequence[TopicPartition],
    history_writer: HistoryWriter,
    clock: RunClock,
    *,
    every: float = EVERY,
) -> Iterator[Sampler]:
    """Samples of all partitions every ``every`` seconds from a thread of their own, for the length of the block."""
    leader_client = LeaderClient.over(addresses, clock)
    leader_client.patience = PATIENCE
    sampler = Sampler(leader_client=leader_client, places=places, history_writer=history_writer)
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
        leader_client.close()  # whoever waits for an answer waits no longer
        thread.join()
        leader_client.close()
