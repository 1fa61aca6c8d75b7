"""Faults of nodes: killed, paused, restarted."""
