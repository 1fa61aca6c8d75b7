"""Faults that requirements, chaos and toxics share: the port of a toxic, the cluster as their target, proxies."""
