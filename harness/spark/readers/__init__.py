"""read_committed Structured Streaming readers, and what their checkpoints and sinks say."""
