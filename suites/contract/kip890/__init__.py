"""Promises of KIP-890."""
