"""librdkafka, by confluent-kafka: Transactions V1, and a plain read_committed reader."""
