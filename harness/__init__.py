"""Machinery: starts a Kafka, drives it, records what it did, publishes verdicts; knows nothing of any requirement."""
