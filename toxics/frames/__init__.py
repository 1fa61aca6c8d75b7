"""Faults of single requests, chosen by API and content, made by the gate."""
