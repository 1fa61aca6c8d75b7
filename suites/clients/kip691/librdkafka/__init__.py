"""KIP-691: how librdkafka classifies errors."""
