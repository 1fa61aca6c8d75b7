"""Rules that break what brokers tell of producers and transactions: DescribeProducers and its like (KIP-664).

Names of classes and arguments are those of Kafka 4.3.1.
"""

from harness.contract.byteman.rule_text import rule

_PARTITION = "kafka.cluster.Partition"
_MANAGER = "kafka.server.ReplicaManager"
_ERRORS = "org.apache.kafka.common.protocol.Errors"
_NO_PRODUCERS = "$!.setActiveProducers(java.util.Collections.emptyList())"


def _told(name: str, place: str, do: str, when: str = "true") -> str:
    """What was made ready to be told, ``$!``, is changed."""
    return rule(name, place, do, when=when, at="EXIT")


def _is(error: str) -> str:
    return f"$!.setErrorCode({_ERRORS}.{error}.code())"


FOLLOWERS_DESCRIBE_NOTHING = _told(
    "followers do not describe producers",
    f"{_PARTITION}#activeProducerState",
    _is("NOT_LEADER_OR_FOLLOWER"),
    "!$0.isLeader()",
)
FOLLOWERS_KNOW_NO_PRODUCER = _told(
    "followers keep no producers", f"{_PARTITION}#activeProducerState", _NO_PRODUCERS, "!$0.isLeader()"
)
STRANGERS_DESCRIBE_AN_EMPTY_PARTITION = _told(
    "a broker without replica describes a partition without producers",
    f"{_MANAGER}#activeProducerState",
    _is("NONE"),
    "$0.onlinePartition($1).isEmpty()",
)
UNKNOWN_TOPICS_DESCRIBED = _told(
    "what does not exist is described as a partition without producers",
    "kafka.server.KafkaApis#partitionError$1",
    _is("NONE"),
)
ONE_UNKNOWN_PARTITION_FAILS_ALL = _told(
    "what is asked about beside an unknown partition is unknown as well",
    f"{_MANAGER}#activeProducerState",
    _is("UNKNOWN_TOPIC_OR_PARTITION"),
)
PRODUCERS_OF_ANOTHER_PARTITION = rule(
    "an entry carries another producer's id",
    "org.apache.kafka.common.message.DescribeProducersResponseData$ProducerState#setProducerId",
    "$1 = $1 + 1",
)
