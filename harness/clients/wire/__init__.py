"""The clients that speak Kafka's protocol themselves: ``wire-v2`` (Transactions V2, KIP-890) and ``wire-v1``."""
