"""A cluster as its clients see it: who leads and coordinates, what is offered, what its logs hold.

Used by faults, clients, chaos and the lab; stands on wire.
"""
