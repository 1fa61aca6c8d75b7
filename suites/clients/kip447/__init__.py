"""Promises of KIP-447 to a consumer in a group whose offsets are committed by transactions.

The catalogue has no ids for them, so ``KIP447-CLI-01`` and so on are this suite's own.
"""
