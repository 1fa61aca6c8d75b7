"""One file an API: the request, its fields in each version, and the typed result."""
