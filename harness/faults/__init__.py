"""Faults that requirements, chaos and toxics share: the port of a toxic, the cluster as their target, proxies, rules.

The gate's opener is given to a fault target by its maker; nothing else here imports the gate.
"""
