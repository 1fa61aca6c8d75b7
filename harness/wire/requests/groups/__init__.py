"""Requests of consumer groups and of coordinators, one file an API."""
