"""A round while it runs: the environment, the round's context, actors, the runner of faults."""
