"""Models that are wrong in one rule each: the grid, or the search of orders, must tell each from the model."""
