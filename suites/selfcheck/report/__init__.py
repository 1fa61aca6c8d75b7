"""Selfcheck: pages, documents, terminals."""
