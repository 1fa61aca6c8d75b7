"""Faults by API and content of a request, made by the gate."""
