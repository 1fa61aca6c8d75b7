"""Promises of KIP-360."""
