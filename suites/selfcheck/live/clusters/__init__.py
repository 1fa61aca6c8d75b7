"""Selfcheck: clusters of local processes and other servers: clients, endings, powers of the lab, security."""
