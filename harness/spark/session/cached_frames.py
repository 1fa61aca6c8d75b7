"""Rows that several questions share: kept in memory or on disk, and asked without what made them.

Spark's own ``persist`` keeps the rows, but every question still carries the whole plan of what made them through
analysis, to find at its end that the rows are there. Here the question begins at the kept rows.
"""

from dataclasses import dataclass, field

from pyspark import StorageLevel
from pyspark.sql import DataFrame


@dataclass(slots=True)
class CachedFrames:
    """What is kept, until it is let go."""

    _kept: list[DataFrame] = field(default_factory=list)

    def keep(self, rows: DataFrame) -> DataFrame:
        """The same rows, made when they are first asked for and then kept."""
        self._kept.append(rows.persist(StorageLevel.MEMORY_AND_DISK))
        session = rows.sparkSession
        plan = rows._jdf.queryExecution().withCachedData()
        return DataFrame(
            session._jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan), session
        )

    def let_go(self) -> None:
        """Forget everything that is kept."""
        while self._kept:
            self._kept.pop().unpersist()
