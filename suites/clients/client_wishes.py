"""Clusters of their own that requirements of clients ask for: each constant is one cluster that all share."""

from harness.contract import OwnCluster

BROKERS_OF_39 = OwnCluster(releases=dict.fromkeys((1, 2, 3, 4), "3.9.2"), fresh="for clients")
"""Brokers and controller of 3.9; the last requirement of them upgrades it to the target, node by node."""
