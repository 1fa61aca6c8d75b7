"""Samples of high watermark and last stable offset beside the workload, over the observer's lane.

They show since when a last stable offset has not moved, and the timeline draws them. A broker that is away gives no
sample; one that does not answer is not asked again until it has, so that requests do not pile up on it.

Only leaders give samples, each asked in its epoch (:mod:`harness.kafka.in_charge`). A new leader's high watermark may
still be below what the one before it has shown: ListOffsets, sent before the first sample of an epoch, is refused
until that is over, and only then do samples of that epoch count.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TypeVar

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import WatermarkSample
from harness.kafka.in_charge import in_epoch, version_of_leaders
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.kafka.raw_log import log_start
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks, FetchWatermarksResult
from harness.wire.requests.log.list_offsets import ListOffsets, ListOffsetsResult
from harness.wire.security.security import PLAINTEXT, Security
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import PendingResponse
from harness.wire.wire_errors import NoAnswer, WireError

ResultT = TypeVar("ResultT", bound=ApiResult)

SAMPLE_SECONDS = 0.2
"""Between two samples."""
ANSWER_SECONDS = 0.5
"""That a sample waits for its answers; a late one is taken with the next sample, at the time when it came."""
RECONNECT_SECONDS = 5.0
"""After which an unanswered connection is given up for a new one."""
SAMPLES_PER_METADATA = 10
"""Leaders are looked up again after so many samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSample:
    """What one leader was asked and has not answered yet.

    :param epochs: The leader epoch that each partition was asked in.
    :param caught_up: ListOffsets of the partitions that have given no sample in that epoch.
    """

    watermarks: PendingResponse[FetchWatermarksResult]
    since: float
    epochs: Mapping[TopicPartition, int]
    caught_up: Mapping[TopicPartition, PendingResponse[ListOffsetsResult]]


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
    _pending: dict[int, PendingSample] = field(default_factory=dict)
    _caught_up: dict[TopicPartition, int] = field(default_factory=dict)
    _log_starts: dict[TopicPartition, int] = field(default_factory=dict)

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
        epochs = {each: self.leader_client.leader_epoch(each) for each in led}
        new = [each for each, epoch in epochs.items() if self._caught_up.get(each) != epoch]
        try:
            self._pending[leader] = PendingSample(
                caught_up={each: self._send(leader, ListOffsets(topic=each[0], partition=each[1])) for each in new},
                watermarks=self._send(leader, FetchWatermarks(partitions=led, log_starts=dict(self._log_starts))),
                since=time.monotonic(),
                epochs=epochs,
            )
        except WireError:
            self.leader_client.forget(led)

    def _send(self, leader: int, request: ApiRequest[ResultT]) -> PendingResponse[ResultT]:
        client = self.leader_client.client
        version = version_of_leaders(client, leader, request.api)
        return client.send(leader, in_epoch(request, self.leader_client.leader_epoch), version)

    def _take(self, leader: int, timeout_seconds: float) -> None:
        pending = self._pending[leader]
        try:
            answer = pending.watermarks.wait(timeout_seconds)
            self._note_caught_up(pending)
        except NoAnswer:
            if time.monotonic() - pending.since > RECONNECT_SECONDS:
                self.leader_client.client.leave(leader)
            return
        except WireError:
            self.leader_client.forget(self.partitions)
        else:
            self._write(answer.result, answer.exchange.answered, pending.epochs)
        del self._pending[leader]

    def _note_caught_up(self, pending: PendingSample) -> None:
        """A broker answers in order, so that these have come with the watermarks that were asked for after them."""
        for partition, answer in pending.caught_up.items():
            if answer.wait(ANSWER_SECONDS).result.error == 0:
                self._caught_up[partition] = pending.epochs[partition]

    def _write(self, result: FetchWatermarksResult, at: float | None, epochs: Mapping[TopicPartition, int]) -> None:
        assert at is not None, "an answer has a time"
        self.leader_client.forget(each for each, error in result.partitions.items() if error)
        self._learn_starts(
            [each for each, error in result.partitions.items() if error == KafkaError.OFFSET_OUT_OF_RANGE]
        )
        rows = [
            WatermarkSample(at=at, topic=topic, partition=index, high_watermark=high, last_stable_offset=stable)
            for (topic, index), (high, stable) in result.watermarks.items()
            if self._caught_up.get((topic, index)) == epochs[topic, index]
        ]
        self.history_journal.write(*rows)
        self.samples += len(rows)

    def _learn_starts(self, trimmed: Sequence[TopicPartition]) -> None:
        """Of logs of which records were deleted; one whose leader is silent is asked for the next time."""
        for partition in trimmed:
            with suppress(Unreachable):
                self._log_starts[partition] = log_start(self.leader_client, partition)


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
