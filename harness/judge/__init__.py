"""The judge of chaos histories: DataFrame programs over sealed tables, the same on a laptop and on a cluster.

For the chaos run and replay, which call :func:`judge`.
"""

from harness.judge.judge_history import judge

__all__ = ["judge"]
