"""KIP-588: what tells a fenced producer from others, by API and version."""
