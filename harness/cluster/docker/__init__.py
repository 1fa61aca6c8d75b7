"""The docker backend: each node in a container on a network that it shares with Toxiproxy alone. Opened by opening.py."""
