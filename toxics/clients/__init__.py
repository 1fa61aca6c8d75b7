"""Faults of clients that are processes of their own: killed, paused."""
