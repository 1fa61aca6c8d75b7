"""The client ``librdkafka``: confluent-kafka, which uses Transactions V1."""
