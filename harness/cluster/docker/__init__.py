"""The docker backend: each node is a container on a network shared with Toxiproxy alone. Opened by opening.py."""

BACKEND = "docker"
"""Its name."""
