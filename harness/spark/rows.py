"""Small results of Spark brought to the driver, quietly."""

import warnings
from collections.abc import Sequence

from pyspark.sql import DataFrame, Row


def rows(frame: DataFrame) -> Sequence[Row]:
    """All rows of a frame that is known to be small; not for two threads at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves collect()'s socket to the collector
        return tuple(frame.collect())
