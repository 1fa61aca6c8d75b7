"""A cluster as its clients see it: who leads and coordinates, what is offered, what its logs hold. Stands on wire."""
