"""Promises of KIP-664."""
