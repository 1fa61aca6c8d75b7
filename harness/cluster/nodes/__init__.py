"""The same for a Kafka node wherever it runs: ports, settings, storage, readiness, agents. For backends alone."""
