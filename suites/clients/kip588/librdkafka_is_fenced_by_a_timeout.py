"""KIP588-RECOVER-08: librdkafka takes the timeout of its transaction for fencing, which is fatal.

INVALID_PRODUCER_EPOCH in a Produce answer sets the fatal error ``_FENCED`` (``rdkafka_request.c``,
``rd_kafka_handle_Produce_error``), so the instance is over; the KIP would have it go on. Libraries that wrap it do
likewise.
"""

from harness.contract import Evidence, Level, LyingClient, Observations, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import with_call
from harness.contract.clients.client_expect import as_it_said, failed, said
from harness.contract.clients.error_case import Behaviour
from harness.contract.expect import agree, unless
from harness.contract.requirement import Library
from harness.evidence.client_evidence import LibraryError
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.overdue import OVERDUE, afterwards, late_errors, outlive, overdue_story

LIBRDKAFKA = Library(("librdkafka", "rust-rdkafka", "confluent-javascript"))
SOUND = "librdkafka:2.16.1"


def stimulus(lab: ClientLab) -> None:
    """The library knows the old protocol alone."""
    outlive(lab, ending="commit")


def check(seen: Evidence) -> Observations:
    """The late record fails for good, and a new instance works."""
    codes, behaved, late = late_errors(seen), afterwards(seen), said(seen, "late")
    yield failed(late, otherwise="late-record-taken")
    yield agree(f"after {codes} librdkafka is", behaved, Behaviour.FATAL, otherwise="not-fatal")
    named = [
        call.error.classification
        for call in seen.calls
        if call.error is not None and call.error.classification is not None and call.started >= late.started
    ]
    what = f"classes of errors after the timeout: {named}"
    yield unless(bool({*named} & {"fatal", "fenced"}) or not named, what, otherwise="class-is-not-so")
    yield from as_it_said(seen)


def _good(*, behaves: Behaviour = Behaviour.FATAL, late_done: bool = False) -> Evidence:
    return overdue_story(behaves=behaves, late="fatal", late_done=late_done).with_fact("library", "librdkafka")


GOOD = _good()
ABORTABLE = LibraryError(type="_INVALID_PRODUCER_EPOCH", classification="abortable")
MISNAMED = with_call(with_call(GOOD, "late", error=ABORTABLE), f"{OVERDUE} end", error=ABORTABLE)

REQUIREMENT = Requirement(
    id="KIP588-RECOVER-08",
    level=Level.SHOULD,
    source=Source(588, "Proposed Changes"),
    statement="librdkafka takes the timeout of its transaction for fencing, and a new instance works.",
    needs=(TRANSACTIONS, LIBRDKAFKA),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("late-record-taken", _good(late_done=True)),
        Refusal("not-fatal", _good(behaves=Behaviour.ABORTABLE)),
        Refusal(
            "class-is-not-so", with_call(with_call(GOOD, "late", error=ABORTABLE), f"{OVERDUE} end", error=ABORTABLE)
        ),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        LyingClient(lie="goes-on-after-fatal", client=SOUND, anomaly="not-fatal"),
        LyingClient(lie="misclassifies", client=SOUND, anomaly="class-is-not-so"),
        LyingClient(lie="aborts-instead", client=SOUND, anomaly="lost"),
    ),
)
