"""Distributions of a round and of a session: settling, recovering, what faults were to clients, the LSO's lag."""
