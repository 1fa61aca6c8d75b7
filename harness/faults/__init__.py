"""Faults that requirements, chaos and toxics share: the port of a toxic, the cluster as their target, proxies, rules.

Whoever makes a fault target says how its gate is opened; nothing else here imports the gate.
"""
