"""Selfcheck: tests that start real brokers, engines or rounds."""
