"""Scenarios: each file binds ``SCENARIO``, and ``fencepost chaos`` finds it."""
