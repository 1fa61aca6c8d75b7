"""The log of a client's requests: what each said, what became of it, and what its client was answered."""
