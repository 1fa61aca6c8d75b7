"""The error table of adapters: what a library's word means for the log (the port's outcomes, ``clients/client.py``).

A library tries again by itself and reports the last error alone. A broker's refusal is then no proof: an earlier try
that went unanswered may have been appended or committed (a commit of Transactions V1 that was done, and tried again
after another had taken over, is answered PRODUCER_FENCED). So what a library reports as an error is *unsure*, except
for the rows here, which hold whatever the number of tries; the judge decides from the log.
"""

from collections.abc import Mapping

from harness.base.kafka_error import KafkaError
from harness.clients.client import CallResult
from harness.clients.outcome_table import OutcomeRow, refused, unsure
from harness.clients.stdio.adapter_answer import AdapterAnswer
from harness.evidence.client_evidence import LibraryError
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.evidence.history.operation import Outcome, Verb

NOT_KNOWN = unsure("the library does not know what became of it")
NO_PROOF = unsure("an error of the library is no proof: an earlier try of its own may have had its effect")
UNSUPPORTED = refused("the adapter has nothing for this call; nothing was sent")
LOCAL = refused("begin has no effect on any log")
NOT_READ = refused("what did not arrive was not read")
NO_ANSWER = "the client's process is over"

WITHOUT_EFFECT: Mapping[Verb, OutcomeRow] = {
    "begin": LOCAL,
    "subscribe": NOT_READ,
    "poll": NOT_READ,
    "close": NOT_READ,
}
"""Verbs that write nothing, whatever became of them."""
PROVEN: Mapping[Verb, Mapping[int, OutcomeRow]] = {
    "init": {
        KafkaError.INVALID_TRANSACTION_TIMEOUT: refused(
            "transaction.timeout.ms is above the broker's limit, which is compared before anything else at every try"
        ),
    },
    "produce": {
        KafkaError.MESSAGE_TOO_LARGE: refused("the record is too large at every try; checked before the append"),
        KafkaError.INVALID_TOPIC_EXCEPTION: refused("the topic's name is not valid at any try"),
        KafkaError.UNSUPPORTED_COMPRESSION_TYPE: refused("the compression is known at no try; nothing is appended"),
        KafkaError.INVALID_RECORD: refused("the record is invalid at every try; checked before the append"),
    },
    "commit": {
        # TransactionCoordinator.endTransaction: of the same epoch the state is Empty or an abort's, so that no try of
        # this commit was done: after one that was, the state is a commit's, and the answer is another.
        KafkaError.INVALID_TXN_STATE: refused("the coordinator has no transaction of this epoch that is committed"),
    },
}
"""Errors after which no try had an effect, by verb."""


def row_of(verb: Verb, answer: AdapterAnswer) -> OutcomeRow:
    """The row of an answer that is not ``done``.

    >>> fenced = LibraryError(type="_FENCED", code=KafkaError.PRODUCER_FENCED)
    >>> row_of("commit", AdapterAnswer(id=1, outcome="refused", error=fenced)).outcome
    <Outcome.UNSURE: 'unsure'>
    """
    if verb in WITHOUT_EFFECT:
        return WITHOUT_EFFECT[verb]
    if answer.outcome == "unsure":
        return NOT_KNOWN
    if answer.unsupported:
        return UNSUPPORTED
    code = answer.error.code if answer.error else None
    return NO_PROOF if code is None else PROVEN.get(verb, {}).get(code, NO_PROOF)


def result_of(verb: Verb, answer: AdapterAnswer, value: str = "") -> CallResult:
    """The port's result of an answer; libraries do not report producer id and epoch.

    :param value: Of the record that was written.
    """
    records = [DeliveredRecord(each.topic, each.partition, each.offset, each.value) for each in answer.records]
    if answer.done:
        offsets = [each.offset for each in answer.deliveries if each.value == value and each.outcome == "done"]
        return CallResult(outcome=Outcome.DONE, offset=offsets[-1] if value and offsets else None, records=records)
    row = row_of(verb, answer)
    reason = f"{row.reason} ({_said(answer.error)})" if answer.error else row.reason
    code = answer.error.code if answer.error else None
    return CallResult(outcome=row.outcome, error=code, reason=reason, tries=0 if row is UNSUPPORTED else 1)


def result_of_failure(verb: Verb, sentence: str) -> CallResult:
    """Of a call that the process did not answer, or answered with what is no answer."""
    outcome = Outcome.REFUSED if verb in WITHOUT_EFFECT else Outcome.UNSURE
    return CallResult(outcome=outcome, error=None, reason=f"{NO_ANSWER}: {sentence}")


def _said(error: LibraryError) -> str:
    return f"{error.type}: {error.message}" if error.message else error.type
