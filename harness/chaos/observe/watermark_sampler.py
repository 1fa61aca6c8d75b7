"""Samples of high watermark and last stable offset beside the workload, over the observer's lane.

They show since when a last stable offset has not moved, and the timeline draws them. A broker that is away gives no
sample; one that does not answer is not asked again until it has, so that requests do not pile up on it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import WatermarkSample
from harness.kafka.leader_client import LeaderClient
from harness.wire.requests.log.fetch import LAST_BY_NAME
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks, FetchWatermarksResult
from harness.wire.security.security import PLAINTEXT, Security
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import PendingResponse
from harness.wire.wire_errors import NoAnswer, WireError

SAMPLE_SECONDS = 0.2
"""Between two samples."""
ANSWER_SECONDS = 0.5
"""That a sample waits for its answers; a late one is taken with the next sample, at the time when it came."""
RECONNECT_SECONDS = 5.0
"""After which an unanswered connection is given up for a new one."""
SAMPLES_PER_METADATA = 10
"""Leaders are looked up again after so many samples."""


@dataclass(slots=True, kw_only=True)
class WatermarkSampler:
    """One sample of all partitions at a time; :func:`sampling` takes them by itself.

    :param samples: Rows written so far.
    """

    leader_client: LeaderClient
    partitions: Sequence[TopicPartition]
    history_journal: HistoryJournal
    samples: int = 0
    _taken: int = 0
    _pending: dict[int, tuple[PendingResponse[FetchWatermarksResult], float]] = field(default_factory=dict)

    def sample(self) -> None:
        """Ask every leader that has no request pending, and write what has come."""
        if self._taken % SAMPLES_PER_METADATA == 0:
            self.leader_client.forget(self.partitions)
        self._taken += 1
        for leader, led in self.leader_client.leaders(self.partitions).items():
            if leader not in self._pending:
                self._ask(leader, led)
        deadline = time.monotonic() + ANSWER_SECONDS
        for leader in tuple(self._pending):
            self._take(leader, max(0.0, deadline - time.monotonic()))

    def _ask(self, leader: int, led: Sequence[TopicPartition]) -> None:
        client = self.leader_client.client
        try:
            version = client.highest(leader, FetchWatermarks.api, LAST_BY_NAME)
            pending = client.send(leader, FetchWatermarks(partitions=led), version)
        except WireError:
            self.leader_client.forget(led)
        else:
            self._pending[leader] = (pending, time.monotonic())

    def _take(self, leader: int, timeout_seconds: float) -> None:
        pending, since = self._pending[leader]
        try:
            answer = pending.wait(timeout_seconds)
        except NoAnswer:
            if time.monotonic() - since > RECONNECT_SECONDS:
                self.leader_client.client.close()
            return
        except WireError:
            self.leader_client.forget(self.partitions)
        else:
            self._write(answer.result, answer.exchange.answered)
        del self._pending[leader]

    def _write(self, result: FetchWatermarksResult, at: float | None) -> None:
        assert at is not None, "an answer has a time"
        self.leader_client.forget(each for each, error in result.partitions.items() if error)
        rows = [
            WatermarkSample(at=at, topic=topic, partition=index, high_watermark=high, last_stable_offset=stable)
            for (topic, index), (high, stable) in result.watermarks.items()
        ]
        self.history_journal.write(*rows)
        self.samples += len(rows)


@contextmanager
def sampling(
    addresses: Mapping[int, Address],
    partitions: Sequence[TopicPartition],
    history_journal: HistoryJournal,
    clock: RunClock,
    *,
    interval_seconds: float = SAMPLE_SECONDS,
    security: Security = PLAINTEXT,
) -> Iterator[WatermarkSampler]:
    """Samples of all partitions every ``every`` seconds from a thread of their own, for the length of the block."""
    leader_client = LeaderClient.over(addresses, clock, security=security)
    leader_client.answer_seconds = ANSWER_SECONDS
    sampler = WatermarkSampler(leader_client=leader_client, partitions=partitions, history_journal=history_journal)
    over = Event()

    def go_on() -> None:
        while not over.wait(interval_seconds):
            sampler.sample()

    thread = Thread(target=go_on, name="watermark samples", daemon=True)
    thread.start()
    try:
        yield sampler
    finally:
        over.set()
        leader_client.close()  # ends a wait for an answer
        thread.join()
        leader_client.close()
