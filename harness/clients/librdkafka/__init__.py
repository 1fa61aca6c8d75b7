"""The client ``librdkafka``: confluent-kafka, which speaks Transactions V1."""
