"""Different values counted without a group for each: one bit a value, 64 to a number."""

from typing import Any

from pyspark.sql import functions as F


def different_of_64(column: str) -> Any:
    """How many different values a group has in a column of whole numbers, where those 64 apart count as one."""
    return F.bit_count(F.bit_or(F.expr(f"shiftleft(1L, {column} % 64)"))).cast("long")
