"""A streaming reader for stimuli: partitions instead of topics, high watermarks from the observer.

The lab knows a reader by two ports alone; the run gives it Spark's (:mod:`harness.spark.readers.spark_readers`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError
from harness.evidence.stream_account import StreamAccount, as_fact
from harness.evidence.stream_reach import Reach, ReaderFailed
from harness.lab.observer import Observer
from harness.lab.partition import Partition
from harness.lab.step_recorder import COMPLETION, Unprepared
from harness.wire.security.security import PLAINTEXT, Security


class StreamReader(Protocol):
    """A running read_committed stream; partitions are named ``topic-index``."""

    def caught_up_to(self, high_watermarks: Mapping[str, int], *, timeout_seconds: float) -> Mapping[str, Reach]:
        """Wait at most ``timeout_seconds`` seconds for these; :raises ReaderFailed: when the stream has failed."""

    def account(self, reached: Mapping[str, Reach]) -> Mapping[str, StreamAccount]:
        """What it delivered; :raises ReaderFailed: when the stream has failed."""


class StreamReaders(Protocol):
    """Where readers come from."""

    def committed(
        self, *, bootstrap: str, topics: Sequence[str], security: Security
    ) -> AbstractContextManager[StreamReader]:
        """A reader of the topics for the length of the block; :raises UserError: when a tool for it is missing."""


@dataclass(slots=True, kw_only=True)
class StreamReading:
    """A read_committed stream over ``partitions`` while it runs."""

    observer: Observer
    reader: StreamReader
    partitions: Sequence[Partition]
    _reached: Mapping[str, Reach] = field(default_factory=dict)

    def catch_up(self, *, timeout_seconds: float) -> None:
        """Wait, bounded, until the stream is at the high watermarks that the observer reads now; it need not get there.

        A stream cannot pass the last stable offset: while that is behind, the run's patience for it counts too.

        :raises Unprepared: When the stream itself has failed.
        """
        samples = {str(partition): self.observer.sample(partition) for partition in self.partitions}
        wanted = {partition: sample.high_watermark for partition, sample in samples.items()}
        if any(sample.last_stable_offset < sample.high_watermark for sample in samples.values()):
            timeout_seconds = self.observer.recorder.patience.bound(timeout_seconds, COMPLETION)
        with _stream_alive():
            self._reached = self.reader.caught_up_to(wanted, timeout_seconds=timeout_seconds)

    def account(self) -> Json:
        """What the stream did until it last caught up or failed to, by partition: for ``lab.note("reader", …)``.

        :raises Unprepared: When the stream itself has failed.
        """
        with _stream_alive():
            return as_fact(self.reader.account(self._reached))


@contextmanager
def stream_of(
    readers: StreamReaders, bootstrap: str, topics: Sequence[str], security: Security = PLAINTEXT
) -> Iterator[StreamReader]:
    """A running stream over the topics.

    :raises Unprepared: When there can be no Spark (no Java, no connector): that is no evidence about the judged Kafka.
    :raises UserError: When the disk is full.
    """
    with ExitStack() as stack:
        try:
            reader = stack.enter_context(readers.committed(bootstrap=bootstrap, topics=topics, security=security))
        except UserError as error:
            if error.exit is ExitCode.NO_ROOM:
                raise
            raise Unprepared(f"there is no Spark to read with: {error}") from error
        yield reader


@contextmanager
def _stream_alive() -> Iterator[None]:
    try:
        yield
    except ReaderFailed as failed:
        raise Unprepared(str(failed)) from failed
