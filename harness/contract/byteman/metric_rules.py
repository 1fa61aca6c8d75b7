"""Rules that break what brokers count of verification.

Names of classes and arguments are those of Kafka 4.3.1.
"""

from harness.contract.byteman.rule_text import rule

_MANAGER = "org.apache.kafka.server.transaction.AddPartitionsToTxnManager"
_OF_VERIFICATION = 'callerMatches(".*AddPartitionsToTxn.*", true)'

NO_VERIFICATION_COUNTED = rule("no verification is counted", f"{_MANAGER}#sendCallback", "$1.complete($2); return")
NO_FAILURE_COUNTED = rule(
    "no failed verification is counted", "com.yammer.metrics.core.Meter#mark(long)", "return", when=_OF_VERIFICATION
)
SUCCESS_COUNTED_AS_FAILURE = rule(
    "a verification without failures counts as one",
    "com.yammer.metrics.core.Meter#mark(long)",
    "$1 = 1L",
    when=f"$1 == 0L AND {_OF_VERIFICATION}",
)
NO_TIME_TAKEN = rule(
    "every verification takes no time", f"{_MANAGER}#sendCallback", "$3 = java.lang.System.currentTimeMillis()"
)
EVERY_TIME_IS_LONG = rule("every verification takes ten seconds", f"{_MANAGER}#sendCallback", "$3 = $3 - 10000L")
NO_GAUGE_CAN_BE_READ = rule(
    "no gauge can be read",
    "com.yammer.metrics.reporting.JmxReporter$Gauge#getValue",
    'throw new java.lang.IllegalStateException("no value")',
)
