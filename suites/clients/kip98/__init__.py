"""Promises of KIP-98 to who writes and to who reads committed records.

KIP-98 states them in "Idempotent Producer Guarantees", "Transactional Guarantees", "New Configurations"
(``isolation.level``) and, of markers, in 5.2 of its data flow ("WriteTxnMarkerRequest"); the catalogue has no ids for
them, so ``KIP98-CLI-01``, ``KIP98-READ-01`` and so on are this suite's own.
"""
