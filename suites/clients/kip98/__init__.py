"""Promises of KIP-98 to who writes and to who reads committed records.

KIP-98 states them in "Transactional Guarantees" and "Configurations" (``isolation.level``); the catalogue has no ids
for them, so ``KIP98-CLI-01``, ``KIP98-READ-01`` and so on are this suite's own.
"""
