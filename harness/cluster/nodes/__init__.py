"""What is the same for a Kafka node wherever it runs: ports, settings, JVM flags, storage, readiness, agents."""
