"""The docker backend: a container a node on a network of its own, Toxiproxy the only other thing on each of them."""
