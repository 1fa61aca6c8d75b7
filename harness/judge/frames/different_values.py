"""Different values counted without a group for each: one bit a value, 64 to a number."""

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F


def bits_of_64(column: str, counted: Column | None = None) -> Any:
    """The different values that a group has in a column of whole numbers, one bit each; those 64 apart share one.

    :param counted: Of which rows; of all if None.
    """
    bit = F.expr(f"shiftleft(1L, {column} % 64)")
    return F.bit_or(bit if counted is None else F.when(counted, bit))


def different_of_64(bits: Any) -> Any:
    """How many different values there are, from their bits; a whole number."""
    return F.bit_count(bits).cast("long")
