"""The one table of retriable codes: after which answers a request is sent again, and after which its node is looked up.

All sets begin with what Kafka's Java client knows as a ``RetriableException`` (:attr:`KafkaError.retriable`).
"""

from typing import TypeAlias

from harness.base.kafka_error import KafkaError

Errors: TypeAlias = frozenset[KafkaError]

READ_AGAIN: Errors = frozenset(error for error in KafkaError if error.retriable)
"""A request that only reads is sent again after every retriable error: repeating it changes nothing."""

STALE_ROUTE: Errors = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_OR_FOLLOWER,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.TRANSACTION_COORDINATOR_FENCED,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.UNKNOWN_TOPIC_ID,
    }
)
"""The node asked does not, or does not yet, lead or coordinate: leader or coordinator are looked up again.
TRANSACTION_COORDINATOR_FENCED is among them though not retriable, because it means that there is a newer coordinator;
the other retriable errors mean nothing for who is to be asked."""

TRANSIENT: Errors = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
        KafkaError.NOT_LEADER_OR_FOLLOWER,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.CONCURRENT_TRANSACTIONS,
    }
)
"""What a sound broker that nothing disturbs answers for a moment. A requirement's step is sent again after these alone:
any other retriable error is an answer for its check to judge."""
