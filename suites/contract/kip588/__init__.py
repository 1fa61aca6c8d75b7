"""Promises of KIP-588."""
