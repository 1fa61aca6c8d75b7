"""A run's Spark readers: one JVM for all of them, started at the first, ended with the run.

pyspark is imported with the first reader, so that listing the contract does not load it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.faults.gate.reading_lane import ReadingLane
from harness.wire.security.security import PLAINTEXT, Security

if TYPE_CHECKING:
    from harness.spark.readers.committed_stream import CommittedReader
    from harness.spark.session.spark_session import SparkHandle


@dataclass(slots=True, kw_only=True)
class Readers:
    """The readers of a run.

    :param folder: Gets Spark's log, and for each reader a folder with its checkpoint and its Parquet.
    :param progress: Gets one sentence about each long step.
    :param group: What the names of readers' groups begin with; no group comes into being.
    :param reading: Where all of them read, instead of where each is asked to; closed with them.
    """

    folder: Path
    progress: Callable[[str], None] = lambda _: None
    master: str = "local[2]"
    reading: ReadingLane | None = None
    group: str = "fencepost-spark"
    _session: "SparkHandle | None" = None
    _count: int = 0
    _in_order: bool = True

    @contextmanager
    def committed(
        self, *, bootstrap: str, topics: Sequence[str], security: Security = PLAINTEXT
    ) -> "Iterator[CommittedReader]":
        """A read_committed reader of ``topics``, for the length of the block.

        :raises UserError: When Java or Maven is missing, or Spark does not start.
        """
        from harness.spark.readers.committed_stream import GROUP, CommittedReader

        self._session = self._session or self._open()
        self._count += 1
        if self.reading is not None:
            bootstrap, security = self.reading.bootstrap, self.reading.security
        place = self.folder / f"reader-{self._count}"
        try:
            with CommittedReader(
                spark=self._session.spark,
                bootstrap=bootstrap,
                topics=topics,
                folder=place,
                options={GROUP: self.group},
                security=security,
            ) as reader:
                yield reader
        except BaseException:
            self._in_order = False  # an interrupted run must end now, not after it has written the class archive
            raise

    def close(self) -> None:
        """End the JVM. May be called twice."""
        if self.reading is not None:
            self.reading.close()
        session, self._session = self._session, None
        if session is None:
            return
        if self._in_order and session.archive.draft is not None:
            self.progress("preparing Spark for quick starts (once; some 10 s)")
        session.close(in_order=self._in_order)

    def _open(self) -> "SparkHandle":
        from harness.spark.session.spark_session import open_session

        self.folder.mkdir(parents=True, exist_ok=True)
        self.progress("starting Spark")
        return open_session(name="fencepost", master=self.master, log=self.folder / "spark.log", progress=self.progress)
