"""Rules that break the tool ``kafka-transactions.sh``, and what brokers show it.

Names of classes and arguments are those of Kafka 4.3.1.
"""

from harness.contract.byteman.rule_text import rule

_TOOL = "org.apache.kafka.tools.TransactionsCommand"
_FIND = f"{_TOOL}$FindHangingTransactionsCommand"

COMMAND_UNKNOWN = rule("the tool has no sub-command find-hanging", f"{_FIND}#name", 'return "find"')
