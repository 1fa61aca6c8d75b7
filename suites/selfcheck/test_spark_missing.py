"""A machine without Spark tells nothing about the judged Kafka: the scenario is not exercised, the run goes on."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import cast

import pytest

from harness.lab import Unprepared
from harness.lab.reading import stream_of
from harness.spark.reader import CommittedReader
from harness.spark.readers import Readers
from harness.trouble import Exit, Trouble


@dataclass(frozen=True, slots=True)
class NoReaders:
    """Readers that cannot be had."""

    exit: Exit

    def committed(self, *, bootstrap: str, topics: Sequence[str]) -> AbstractContextManager[CommittedReader]:
        """Always trouble."""
        raise Trouble(f"java is needed to read {topics} at {bootstrap}", exit=self.exit)


def open_stream(exit_: Exit) -> None:
    """Ask for a stream."""
    with stream_of(cast(Readers, NoReaders(exit_)), "127.0.0.1:9092", ["t"]):
        pass


def test_without_java_the_scenario_is_unprepared_with_the_remedy() -> None:
    with pytest.raises(Unprepared, match="no Spark to read with: java is needed"):
        open_stream(Exit.TOOL_MISSING)


def test_a_full_disk_still_ends_the_run() -> None:
    with pytest.raises(Trouble):
        open_stream(Exit.NO_ROOM)
