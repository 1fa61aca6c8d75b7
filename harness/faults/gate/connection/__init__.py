"""One connection through the gate: its two sides, the requests on their way, and their responses."""
