"""Different values counted without a group for each: one bit a value, 64 to a number."""

from typing import Any

from pyspark.sql import functions as F


def bits_of_64(column: str) -> Any:
    """The different values that a group has in a column of whole numbers, one bit each; those 64 apart share one."""
    return F.bit_or(F.expr(f"shiftleft(1L, {column} % 64)"))


def different_of_64(bits: Any) -> Any:
    """How many different values there are, from their bits; a whole number."""
    return F.bit_count(bits).cast("long")
