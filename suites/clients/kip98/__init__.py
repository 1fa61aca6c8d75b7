"""Promises of KIP-98 to who reads committed records.

KIP-98 states them in its sections "Transactional Guarantees" and "Configurations" (``isolation.level``); the catalogue
has no ids for them, so ``KIP98-READ-01`` and so on are this suite's own.
"""
