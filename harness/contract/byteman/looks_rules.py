"""Rules that break what brokers tell of producers and transactions: DescribeProducers and its like (KIP-664).

Names of classes and arguments are those of Kafka 4.3.1.
"""

from harness.contract.byteman.rule_text import rule

_PARTITION = "kafka.cluster.Partition"
_MANAGER = "kafka.server.ReplicaManager"
_MESSAGE = "org.apache.kafka.common.message"
_ERRORS = "org.apache.kafka.common.protocol.Errors"
_ENTRY = "org.apache.kafka.common.message.DescribeProducersResponseData$ProducerState"
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
    f"{_ENTRY}#setProducerId",
    "$1 = $1 + 1",
)
NO_LAST_SEQUENCES_TOLD = rule("entries have no last sequence", f"{_ENTRY}#setLastSequence", "$1 = -1")
ONLY_THE_FIRST_PRODUCER_LISTED = _told(
    "one producer of a partition is listed and no other",
    f"{_PARTITION}#activeProducerState",
    "$!.setActiveProducers($!.activeProducers().subList(0, 1))",
    "$!.activeProducers().size() > 1",
)
_DESCRIBED = "org.apache.kafka.common.message.DescribeTransactionsResponseData$TransactionState"
_DESCRIBE = "kafka.coordinator.transaction.TransactionCoordinator#handleDescribeTransactions"


def told_without(field: str, value: str) -> str:
    """DescribeTransactions with the same value (Java) of a field in every description: ``ProducerId``."""
    return rule(f"every description has the {field} {value}", f"{_DESCRIBED}#set{field}", f"$1 = {value}")


NO_PARTITIONS_TOLD_WHILE_PREPARING = _told(
    "a transaction whose markers are under way has no partitions",
    _DESCRIBE,
    "$!.topics().clear()",
    '$!.transactionState().startsWith("Prepare")',
)
UNKNOWN_IDS_DESCRIBED_AS_EMPTY = _told(
    "an id that is not known is described as an idle one",
    _DESCRIBE,
    _is("NONE"),
    f"$!.errorCode() == {_ERRORS}.TRANSACTIONAL_ID_NOT_FOUND.code()",
)
FOREIGN_IDS_NOT_FOUND = _told(
    "an id of another coordinator is told as one that nobody knows",
    _DESCRIBE,
    _is("TRANSACTIONAL_ID_NOT_FOUND"),
    f"$!.errorCode() == {_ERRORS}.NOT_COORDINATOR.code()",
)
ONE_FOREIGN_ID_FAILS_ALL = _told("an id beside a foreign one is foreign as well", _DESCRIBE, _is("NOT_COORDINATOR"))
EMPTY_ID_DESCRIBED = _told(
    "the empty id is described as an idle one", _DESCRIBE, _is("NONE"), "$!.transactionalId().isEmpty()"
)
NO_IDS_DESCRIBES_ONE = rule(
    "a request without ids is taken for one about somebody",
    "org.apache.kafka.common.message.DescribeTransactionsRequestData#transactionalIds",
    '$!.add("somebody")',
    when="$!.isEmpty()",
    at="EXIT",
)
_FILTER = "kafka.coordinator.transaction.TransactionStateManager#shouldInclude$1"
FILTERS_IGNORED = rule("a list has every id, whatever its filters are", _FILTER, "return true")
NOTHING_LISTED = rule("no id fits any filter", _FILTER, "return false")
UNKNOWN_STATES_TAKEN_FOR_DEAD = rule(
    "a state's name that is not known is taken for a state that nothing is in",
    "org.apache.kafka.coordinator.transaction.TransactionState#fromName",
    "return java.util.Optional.of(org.apache.kafka.coordinator.transaction.TransactionState.DEAD)",
    when="!$!.isPresent()",
    at="EXIT",
)
FOREIGN_IDS_DESCRIBED = _told(
    "an id of another coordinator is described as an idle one",
    _DESCRIBE,
    _is("NONE"),
    f"$!.errorCode() == {_ERRORS}.NOT_COORDINATOR.code()",
)
NO_PARTITIONS_TOLD = _told("no transaction has partitions", _DESCRIBE, "$!.topics().clear()")
NO_PRODUCERS_TOLD = _told("no partition has producers", f"{_PARTITION}#activeProducerState", _NO_PRODUCERS)
STRANGE_COORDINATOR_EPOCHS_TOLD = rule(
    "every entry has the same coordinator epoch", f"{_ENTRY}#setCoordinatorEpoch", "$1 = 99"
)
_LIST = "kafka.coordinator.transaction.TransactionStateManager#listTransactionStates"
LISTS_REFUSED = _told("lists are refused", _LIST, _is("UNKNOWN_SERVER_ERROR"))
LISTS_NEVER_LOADED = _told("lists are refused as if ids were being loaded", _LIST, _is("COORDINATOR_LOAD_IN_PROGRESS"))
INVALID_PATTERN_IS_NONE = rule(
    "an invalid pattern is taken for none", _LIST, "$4 = null", when='$4 != null AND $4.equals("[")'
)
VALID_PATTERN_REFUSED = _told(
    "a valid pattern is refused", _LIST, _is("INVALID_REGULAR_EXPRESSION"), "$4 != null AND !$4.isEmpty()"
)
_PRODUCERS_TOLD = "org.apache.kafka.common.requests.DescribeProducersResponse#<init>"
FIRST_TOPIC_ANSWERED_TWICE = rule(
    "the first topic is answered twice",
    _PRODUCERS_TOLD,
    "$1.topics().add(first.duplicate())",
    bind=f"first:{_MESSAGE}.DescribeProducersResponseData$TopicResponse = $1.topics().get(0)",
)
TOPICS_ANSWERED_BACKWARDS = rule(
    "topics are answered in the opposite order", _PRODUCERS_TOLD, "java.util.Collections.reverse($1.topics())"
)
_METADATA = "org.apache.kafka.coordinator.transaction.TransactionMetadata"
_TRANSACTION = "org.apache.kafka.coordinator.transaction.TransactionState"
_LEVEL = "org.apache.kafka.server.common.TransactionVersion"
_NO_EPOCH = 'java.lang.Short.parseShort("-1")'
A_LOOK_CREATES_THE_ID = _told(
    "an id that is not known is created when it is asked about",
    _DESCRIBE,
    f"$0.transactionManager().putTransactionStateIfNotExists(new {_METADATA}($1, 4711, -1, -1, {_NO_EPOCH},"
    f" {_NO_EPOCH}, 60000, {_TRANSACTION}.EMPTY, new java.util.HashSet(), -1, 0, {_LEVEL}.TV_0))",
    f"$!.errorCode() == {_ERRORS}.TRANSACTIONAL_ID_NOT_FOUND.code()",
)
