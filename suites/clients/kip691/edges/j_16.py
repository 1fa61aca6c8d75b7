"""KIP691-J-16: how Java throws fatal errors.

KIP-691 wants them thrown as they are, and nothing wrapped twice. Java throws ProducerFencedException alone so; any
other is the cause of a KafkaException (``TransactionManager.maybeFailWithError``), and where a handler does not expect
the error, that cause is a KafkaException again.
"""

from harness.contract import Evidence, KafkaError, Library, Observations, OtherClient, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import with_call
from harness.contract.clients.client_expect import as_it_said, said, told
from harness.contract.clients.error_case import ErrorCase, struck_by
from harness.contract.clients.error_stories import story, unlike_the_log
from harness.contract.expect import NotLooked, Observation, finding, habit, witness
from harness.evidence.client_evidence import LibraryError
from harness.lab.clients import ClientLab
from harness.lab.clients.error_trial import try_cases
from suites.clients.forms.error_cells import JAVA, fatal
from suites.clients.forms.error_requirement import LIES, TRANSACTIONS

PLAIN = "KafkaException"
EXCEPTIONS = {
    KafkaError.PRODUCER_FENCED: "ProducerFencedException",
    KafkaError.INVALID_PRODUCER_EPOCH: "ProducerFencedException",
    KafkaError.INVALID_TXN_STATE: "InvalidTxnStateException",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "TransactionalIdAuthorizationException",
    KafkaError.INVALID_RECORD: PLAIN,  # what no handler expects
}
KNOWN = tuple(EXCEPTIONS)[:-1]
CASES = (
    *fatal("EndTxn", *EXCEPTIONS),
    *fatal("TxnOffsetCommit", KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH),
    *fatal("AddPartitionsToTxn", *KNOWN),
)


def stimulus(lab: ClientLab) -> None:
    try_cases(lab, CASES)


def check(seen: Evidence) -> Observations:
    for case in CASES:
        yield habit(_thrown(seen, case))
    yield from as_it_said(seen)


def _thrown(seen: Evidence, case: ErrorCase) -> Observation:
    """By the call after the one that failed: it throws what the producer keeps."""
    call = said(seen, case.step("abort after"))
    if call.error is None or not struck_by(seen, case, [said(seen, case.step("begin")), call]):
        return NotLooked(what=f"{case.name}: no call failed")
    wanted = EXCEPTIONS[KafkaError(case.error)]
    thrown = [call.error.type, *(cause.type for cause in call.error.causes)]
    what = f"{case.words}: {told(call)}, which is {' of '.join(thrown)}"
    if wanted not in thrown:
        return finding("another-exception", f"{what}; expected {wanted}")
    if thrown.count(PLAIN) > 1:
        return finding("wrapped-twice", what)
    return witness(what) if thrown[0] == wanted else finding("fatal-is-wrapped", what)


def _throws(evidence: Evidence, case: ErrorCase, *types: str) -> Evidence:
    error = LibraryError(type=types[0], causes=tuple(LibraryError(type=each) for each in types[1:]))
    return with_call(evidence, case.step("abort after"), error=error)


def _good() -> Evidence:
    evidence = story(CASES)
    for case in CASES:
        evidence = _throws(evidence, case, EXCEPTIONS[KafkaError(case.error)])
    return evidence


GOOD = _good()
REQUIREMENT = Requirement(
    id="KIP691-J-16",
    source=Source(691, "Proposed Changes: Unify Wrapped KafkaException"),
    statement="A fatal error is thrown as it is, and no error is wrapped twice.",
    needs=(TRANSACTIONS, Library(JAVA)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("another-exception", _throws(GOOD, CASES[0], "TimeoutException")),
        Refusal("wrapped-twice", _throws(GOOD, CASES[-1], PLAIN, PLAIN, EXCEPTIONS[KNOWN[-1]])),
        Refusal("fatal-is-wrapped", _throws(GOOD, CASES[-1], PLAIN, EXCEPTIONS[KNOWN[-1]])),
        *unlike_the_log(GOOD),
    ),
    refuted_by=(
        *LIES,
        OtherClient(client="java:3.5.2", anomaly="another-exception"),
        OtherClient(client="java:3.5.2", anomaly="wrapped-twice"),
        OtherClient(client="java:4.3.1", anomaly="fatal-is-wrapped"),
    ),
)
