"""The page of an exploration: states of the model by requests, and every difference with its path."""
