"""KIP691-J-21: exceptions of the Java client say by their base type how an application recovers (KIP-1050).

Since 4.1 six of them extend ``ApplicationRecoverableException``: a new producer recovers. Seen of the records that a
Produce with each error failed with; 22 and 25 stand for answers to TxnOffsetCommit, whose classes are the same.
Of ``RefreshRetriableException`` there is nothing to be seen: what extends it is retried inside the client.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    Library,
    NotSeen,
    Observations,
    OtherClient,
    Refusal,
    Requirement,
    Source,
    agree,
    habit,
)
from harness.contract.clients.client_doctored import call, of_client, with_call
from harness.contract.clients.client_expect import said
from harness.evidence.client_evidence import LibraryError
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS

SINCE = "4.1"
RECOVERABLE = "ApplicationRecoverableException"
TYPES = {
    KafkaError.PRODUCER_FENCED: "ProducerFencedException",
    KafkaError.INVALID_PRODUCER_EPOCH: "InvalidProducerEpochException",
    KafkaError.INVALID_PRODUCER_ID_MAPPING: "InvalidPidMappingException",
    KafkaError.FENCED_INSTANCE_ID: "FencedInstanceIdException",
    KafkaError.ILLEGAL_GENERATION: "IllegalGenerationException",
    KafkaError.UNKNOWN_MEMBER_ID: "UnknownMemberIdException",
}


def stimulus(lab: ClientLab) -> None:
    partition = lab.partition("P1")
    app = lab.application(transactional=False, idempotent=False)
    for error in TYPES:
        with app.refused("Produce", error):
            app.produce(partition, f"refused with {error.value}", as_=f"produce {error.value}")


def check(seen: Evidence) -> Observations:
    for error, type_ in TYPES.items():
        told = said(seen, f"produce {error.value}").error
        if told is None or told.type != type_:
            raise NotSeen(f"{type_} was not thrown, but {told.type if told else 'nothing'}")
        recoverable = RECOVERABLE in told.bases
        yield habit(agree(f"{type_} extends {RECOVERABLE}", recoverable, True, otherwise="no-category"))


def story(*bases: str) -> Evidence:
    """By hand: each exception extends these."""
    told = of_client(*(call("produce", name=f"produce {error.value}", outcome="refused") for error in TYPES))
    errors = {f"produce {error.value}": LibraryError(type=type_, bases=bases) for error, type_ in TYPES.items()}
    return with_errors(told, errors)


def with_errors(told: Evidence, errors: dict[str, LibraryError]) -> Evidence:
    """By hand: each call's error by its name."""
    for name, error in errors.items():
        told = with_call(told, name, error=error)
    return told


GOOD = story(RECOVERABLE, "ApiException", "KafkaException")

REQUIREMENT = Requirement(
    id="KIP691-J-21",
    source=Source(1050, "Proposed Changes: exception classes"),
    statement="Since 4.1 Java's exceptions for producers that are over extend ApplicationRecoverableException.",
    needs=(TRANSACTIONS, Library(("java",), since=SINCE)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(Refusal("no-category", story("ApiException", "KafkaException")),),
    refuted_by=(OtherClient(client="java:4.0.2", anomaly="no-category"),),
)
