"""Samples of watermarks come from leaders in their epoch, once each, at the time when they came."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.base.kafka_error import KafkaError
from harness.chaos.observe import watermark_sampler
from harness.chaos.observe.watermark_sampler import SAMPLES_PER_METADATA, WatermarkSampler
from harness.evidence.history.history_journal import HistoryJournal
from harness.kafka.leader_client import LeaderClient
from harness.wire.requests.cluster.metadata import MetadataResult
from harness.wire.requests.log.fetch import LAST_OF_LEADERS
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks, FetchWatermarksResult
from harness.wire.requests.log.list_offsets import ListOffsets, ListOffsetsResult
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import NoAnswer

PARTITION: TopicPartition = ("t", 0)


@dataclass(slots=True)
class Pending:
    """An answer that is there after ``waits`` waits in vain."""

    result: object
    waits: int = 0

    def wait(self, _timeout_seconds: float) -> Any:
        if self.waits:
            self.waits -= 1
            raise NoAnswer("not yet")
        return type("Response", (), {"result": self.result, "exchange": type("Exchange", (), {"answered": 41.5})})


@dataclass(slots=True)
class Leaders:
    """Broker 1, which leads the one partition in ``epoch``.

    :param waits: In vain, for each answer to a Fetch.
    :param behind: Whether its high watermark is below the beginning of its epoch.
    :param begin: Where its log begins.
    """

    epoch: int = 7
    waits: int = 0
    behind: bool = False
    levels: tuple[int, int] = (5, 3)
    begin: int = 0
    sent: list[tuple[object, int]] = field(default_factory=list)
    left: list[int] = field(default_factory=list)

    def leave(self, node: int) -> None:
        self.left.append(node)

    def highest(self, _node: int, _api: str, cap: int | None = None) -> int:
        return 17 if cap is None else cap

    def call(self, _node: int, request: object, *_version: int, timeout_seconds: float) -> Any:
        """Metadata is asked for so, and where a log begins."""
        assert timeout_seconds > 0
        if isinstance(request, ListOffsets):
            begins = ListOffsetsResult(
                error=0, error_message=None, offset=self.begin, timestamp_ms=-1, leader_epoch=self.epoch
            )
            return type("Response", (), {"result": begins})
        partition: Any = {"error": 0, "leader": 1, "leader_epoch": self.epoch, "replicas": [1], "isr": [1]}
        topics: Any = {"t": {"id": None, "error": 0, "partitions": {0: partition}}}
        known = MetadataResult(error=0, error_message=None, cluster_id=None, controller=1, brokers={}, topics=topics)
        return type("Response", (), {"result": known})

    def send(self, _node: int, request: object, version: int) -> Any:
        self.sent.append((request, version))
        match request:
            case ListOffsets(leader_epoch=epoch):
                error = KafkaError.OFFSET_NOT_AVAILABLE if self.behind else self._refusal(epoch)
                return Pending(
                    ListOffsetsResult(error=error, error_message=None, offset=5, timestamp_ms=-1, leader_epoch=-1)
                )
            case FetchWatermarks(leader_epochs=epochs, log_starts=starts):
                return Pending(self._watermarks(epochs, starts.get(PARTITION, 0)), self.waits)
        raise AssertionError(request)

    def _watermarks(self, epochs: Mapping[TopicPartition, int], start: int) -> FetchWatermarksResult:
        error = self._refusal(epochs[PARTITION]) or (KafkaError.OFFSET_OUT_OF_RANGE if start < self.begin else 0)
        levels = {} if error else {PARTITION: self.levels}
        return FetchWatermarksResult(error=error, error_message=None, watermarks=levels, partitions={PARTITION: error})

    def _refusal(self, epoch: int) -> int:
        return 0 if epoch == self.epoch else KafkaError.FENCED_LEADER_EPOCH


@pytest.fixture
def history_journal(tmp_path: Path) -> Iterator[HistoryJournal]:
    """A history of the test's own."""
    made = HistoryJournal(tmp_path / "history")
    yield made
    made.close()


def sampler_of(leaders: Leaders, history_journal: HistoryJournal) -> WatermarkSampler:
    client = LeaderClient(client=leaders, brokers=(1,))  # type: ignore[arg-type]
    return WatermarkSampler(leader_client=client, partitions=[PARTITION], history_journal=history_journal)


def fetches(leaders: Leaders) -> list[tuple[object, int]]:
    return [(request, version) for request, version in leaders.sent if isinstance(request, FetchWatermarks)]


def test_a_sample_that_comes_late_has_the_time_when_it_came_and_is_not_asked_for_twice(
    history_journal: HistoryJournal,
) -> None:
    leaders = Leaders(waits=1)
    sampler = sampler_of(leaders, history_journal)
    sampler.sample()
    assert (sampler.samples, len(fetches(leaders))) == (0, 1)
    sampler.sample()
    assert (sampler.samples, len(fetches(leaders))) == (1, 1)
    level = json.loads((history_journal.folder / "levels.jsonl").read_text())
    assert (level["at"], level["high_watermark"], level["last_stable_offset"]) == (41.5, 5, 3)


def test_a_leader_is_asked_in_its_epoch_at_a_version_that_followers_refuse(history_journal: HistoryJournal) -> None:
    leaders = Leaders()
    sampler_of(leaders, history_journal).sample()
    assert fetches(leaders) == [
        (FetchWatermarks(partitions=[PARTITION], leader_epochs={PARTITION: 7}), LAST_OF_LEADERS)
    ]


def test_a_new_leader_gives_no_sample_before_it_has_caught_up_with_its_epoch(history_journal: HistoryJournal) -> None:
    leaders = Leaders(behind=True)
    sampler = sampler_of(leaders, history_journal)
    sampler.sample()
    sampler.sample()
    assert sampler.samples == 0
    leaders.behind = False
    sampler.sample()
    sampler.sample()
    assert sampler.samples == 2
    asked = [request for request, _ in leaders.sent if isinstance(request, ListOffsets)]
    assert len(asked) == 3, "once it has caught up it is not asked again in this epoch"


def test_another_epoch_is_looked_up_and_must_catch_up_again(history_journal: HistoryJournal) -> None:
    leaders = Leaders()
    sampler = sampler_of(leaders, history_journal)
    sampler.sample()
    leaders.epoch, leaders.behind = 8, True
    for _ in range(3):
        sampler.sample()
    assert sampler.samples == 1
    leaders.behind = False
    sampler.sample()
    assert (sampler.samples, sampler._taken < SAMPLES_PER_METADATA) == (2, True)


def test_a_log_whose_beginning_was_deleted_gives_samples_again_once_that_is_known(
    history_journal: HistoryJournal,
) -> None:
    leaders = Leaders()
    sampler = sampler_of(leaders, history_journal)
    sampler.sample()
    leaders.begin = 3
    sampler.sample()
    sampler.sample()
    assert sampler.samples == 2
    starts = [request.log_starts for request, _ in leaders.sent if isinstance(request, FetchWatermarks)]
    assert starts == [{}, {}, {PARTITION: 3}]


def test_only_the_connection_of_a_leader_that_does_not_answer_is_given_up(
    history_journal: HistoryJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaders = Leaders(waits=2)
    sampler = sampler_of(leaders, history_journal)
    sampler.sample()
    assert leaders.left == []
    monkeypatch.setattr(watermark_sampler, "RECONNECT_SECONDS", 0)
    sampler.sample()
    assert leaders.left == [1]
    sampler.sample()
    assert sampler.samples == 1
