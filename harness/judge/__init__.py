"""The judge of chaos histories: DataFrame programs over the sealed tables, the same on a laptop and on a cluster."""

from harness.judge.judge_history import judge

__all__ = ["judge"]
