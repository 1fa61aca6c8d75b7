"""Clusters that several requirements ask for in place of the common one: one constant a wish, so that they share it."""

from harness.contract import OwnCluster

LEVEL_0_AT_39 = OwnCluster(metadata="3.9")
"""Formatted as a cluster that came from 3.9: transaction.version is not finalized, and brokers of 3.9 may join."""
