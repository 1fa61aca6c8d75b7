"""Machinery: starts a Kafka, drives it, records what it did and publishes verdicts; knows nothing of any requirement."""
