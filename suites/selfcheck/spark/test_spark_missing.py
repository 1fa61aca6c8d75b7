"""Without Spark nothing is known of the judged Kafka: the scenario is not exercised, the run goes on."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import cast

import pytest

from harness.base.user_error import ExitCode, UserError
from harness.lab import Unprepared
from harness.lab.stream_reading import stream_of
from harness.spark.readers.committed_stream import CommittedReader
from harness.spark.readers.spark_readers import Readers
from harness.wire.security.security import Security


@dataclass(frozen=True, slots=True)
class NoReaders:
    """Readers that cannot be had."""

    exit: ExitCode

    def committed(
        self, *, bootstrap: str, topics: Sequence[str], security: Security
    ) -> AbstractContextManager[CommittedReader]:
        """Always an error."""
        raise UserError(f"java is needed to read {topics} at {bootstrap} ({security.protocol})", exit=self.exit)


def open_stream(exit_: ExitCode) -> None:
    """Ask for a stream."""
    with stream_of(cast(Readers, NoReaders(exit_)), "127.0.0.1:9092", ["t"]):
        pass


def test_without_java_the_scenario_is_unprepared_with_the_remedy() -> None:
    with pytest.raises(Unprepared, match="no Spark to read with: java is needed"):
        open_stream(ExitCode.TOOL_MISSING)


def test_a_full_disk_still_ends_the_run() -> None:
    with pytest.raises(UserError):
        open_stream(ExitCode.NO_ROOM)
