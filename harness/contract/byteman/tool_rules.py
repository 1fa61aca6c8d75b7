"""Rules that break the tool ``kafka-transactions.sh``: its sub-commands, and what it makes of what brokers answer.

Names of classes and arguments are those of Kafka 4.3.1.
"""

from harness.contract.byteman.rule_text import rule

_TOOL = "org.apache.kafka.tools.TransactionsCommand"
_FIND = f"{_TOOL}$FindHangingTransactionsCommand"
_ABORT = f"{_TOOL}$AbortTransactionCommand"
_OPTIONS = "org.apache.kafka.clients.admin.ListTransactionsOptions"
LIST, PRODUCERS, HANGING, TRANSACTION = 4, 6, 8, 9
"""Tables by how many columns they have."""


def _row(name: str, table: int, do: str, when: str = "true") -> str:
    """A row as it is printed: its cells are in ``$2``, and in ``copy``, which can be changed; no row of headings."""
    of_it = f'$2.size() == {table} AND NOT $2.contains("ProducerId") AND {when}'
    bind = "copy : java.util.ArrayList = new java.util.ArrayList($2)"
    return rule(name, "org.apache.kafka.tools.ToolsUtils#printRow", do, when=of_it, bind=bind)


def _cell(name: str, table: int, column: int, value: str) -> str:
    """This text in one column of every row of the table."""
    return _row(name, table, f'copy.set({column}, "{value}"); $2 = copy')


COMMAND_UNKNOWN = rule("the tool has no sub-command find-hanging", f"{_FIND}#name", 'return "find"')
OPEN_TRANSACTIONS_NOT_PRINTED = _row(
    "open transactions are left out of the list", LIST, "return", '$2.contains("Ongoing")'
)
WRONG_PRODUCER_LISTED = _cell("the list has another producer id", LIST, 2, "4711")
WRONG_STATE_LISTED = _cell("everything is listed as over", LIST, 3, "CompleteCommit")
NO_PATTERN_PASSED_ON = rule(
    "the tool forgets the pattern that it was given", f"{_OPTIONS}#filterOnTransactionalIdPattern", "return $0"
)
WRONG_EPOCH_DESCRIBED = _cell("another epoch is described", TRANSACTION, 3, "4711")
ZERO_START_DESCRIBED = _cell("the start time is left at 0", TRANSACTION, 6, "0")
ERRORS_END_WELL = rule(
    "the tool ends with exit code 0 after an error", "org.apache.kafka.common.utils.Exit#exit(int, String)", "$1 = 0"
)
WRONG_SEQUENCE_DESCRIBED = _cell("another sequence is described", PRODUCERS, 3, "4711")
NO_OPEN_OFFSET_DESCRIBED = _cell("nothing is ever open", PRODUCERS, 5, "None")
COORDINATORS_NOT_ASKED = rule(
    "no coordinator is asked about a producer id",
    f"{_FIND}#lookupTransactionalIds",
    "return java.util.Collections.emptyMap()",
)
NOTHING_OVERDUE = rule(
    "no transaction is old enough", f"{_FIND}#collectCandidateOpenTransactions", "return new java.util.ArrayList()"
)
WRONG_OFFSET_FOUND = _cell("another start offset is shown", HANGING, 5, "4711")
EVERYTHING_OVERDUE = rule(
    "an age of no minutes is enough",
    "net.sourceforge.argparse4j.inf.Namespace#getInt",
    "return java.lang.Integer.valueOf(0)",
    when='$1.equals("max_transaction_timeout")',
)
ANY_OFFSET_ABORTED = rule(
    "any open transaction is the one at the offset", f"{_ABORT}#lambda$buildAbortSpec$0", "return true"
)
NOTHING_ABORTED = rule("the tool ends well and sends no marker", f"{_ABORT}#abortTransaction", "return")
INTERNAL_TOPICS_LEFT_OUT = rule(
    "internal topics are not searched", "org.apache.kafka.clients.admin.ListTopicsOptions#listInternal", "$1 = false"
)
PARTITION_FORGOTTEN = rule(
    "the whole topic is searched", f"{_FIND}#collectTopicPartitionsToSearch", "$3 = java.util.Optional.empty()"
)
ONLY_KNOWN_IDS_HANG = rule(
    "what no coordinator knows is left out",
    f"{_FIND}#lambda$filterHangingTransactions$0",
    "return",
    when="$1.get($4) == null",
)
NO_COORDINATOR_EPOCH_SENT = rule(
    "markers are sent with the coordinator epoch that the KIP gives operators",
    "org.apache.kafka.clients.admin.AbortTransactionSpec#<init>",
    "$4 = -1",
)
ABORT_LOOKS_FIRST = rule(
    "the tool looks for the transaction at offset 0 whatever it was given",
    f"{_ABORT}#abortTransaction",
    "$0.buildAbortSpec($1, $2.topicPartition(), 0L)",
)
ANOTHER_EPOCH_SENT = rule(
    "the tool sends the newest epoch whatever it was given",
    "org.apache.kafka.clients.admin.AbortTransactionSpec#<init>",
    '$3 = java.lang.Short.parseShort("1")',
)
MOVED_LEADER_IS_FATAL = rule(
    "the admin client gives up when the leader has moved",
    "org.apache.kafka.clients.admin.internals.AbortTransactionHandler#handleError",
    "$1 = org.apache.kafka.common.protocol.Errors.UNKNOWN_SERVER_ERROR",
    when="$1 == org.apache.kafka.common.protocol.Errors.NOT_LEADER_OR_FOLLOWER",
)
DESCRIBE_FAILS = rule(
    "the tool cannot describe a transaction",
    f"{_TOOL}$DescribeTransactionsCommand#execute",
    'throw new java.lang.IllegalStateException("no answer")',
)
SEARCH_FAILS = rule(
    "the tool cannot search", f"{_FIND}#execute", 'throw new java.lang.IllegalStateException("no answer")'
)
WRONG_DURATION_DESCRIBED = _cell("a duration that is no number", TRANSACTION, 7, "long")
WRONG_PRODUCER_DESCRIBED = _cell("another producer id is described", PRODUCERS, 0, "4711")
WRONG_AGE_FOUND = _cell("another age is shown", HANGING, 7, "4711")
MARKER_SENT_TWICE = rule(
    "the tool sends its marker twice",
    f"{_ABORT}#abortTransaction",
    "$0.abortTransaction($1, $2)",
    when='incrementCounter("aborts") == 1',
)
