"""read_committed Structured Streaming readers, their checkpoints and sinks. For the lab and chaos runs."""
