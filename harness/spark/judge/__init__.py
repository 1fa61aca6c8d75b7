"""The judge of chaos histories: DataFrame programs over the sealed tables, the same on a laptop and on a cluster."""

from harness.spark.judge.judging import judge

__all__ = ["judge"]
