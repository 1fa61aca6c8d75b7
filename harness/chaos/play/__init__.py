"""A round while it runs: the session's environment, the round's context, actors, the runner of faults."""
