"""KIP588-RECOVER-05: an application of the old protocol whose transaction timed out is told so, and commits none of it.

The KIP promises that the same instance recovers, by an error of its own; that error was never added. What Kafka's
client makes of it (``TransactionManager``, tags 2.7 to 4.3): Produce fails with INVALID_PRODUCER_EPOCH, which is
abortable, and the abort with PRODUCER_FENCED, which is fatal. So of Java a fatal end is expected, as it does it; of
others either, for the KIP would have them go on. Nobody may be left with an id that no instance can use.
"""

from harness.contract import Evidence, LyingClient, Observations, Refusal, Requirement, Source, habit
from harness.contract.clients.client_doctored import with_call
from harness.contract.clients.client_expect import as_it_said, failed, said, told
from harness.contract.clients.error_case import Behaviour
from harness.contract.expect import agree, unless
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import LIES, TRANSACTIONS
from suites.clients.forms.overdue import OVERDUE, afterwards, late_errors, outlive, overdue_story

FENCED = (47, 90)
"""INVALID_PRODUCER_EPOCH and PRODUCER_FENCED."""


def stimulus(lab: ClientLab) -> None:
    """In the old protocol, whatever the level."""
    outlive(lab, protocol=1)


def check(seen: Evidence) -> Observations:
    """The late record fails; afterwards this instance works or a new one does."""
    codes, behaved = late_errors(seen), afterwards(seen)
    yield failed(said(seen, "late"), otherwise="late-record-taken")
    works = behaved is not Behaviour.STUCK
    yield unless(works, f"an instance works after the timeout and {codes}: {behaved}", otherwise="stuck")
    if seen.fact("library") == "java":
        ended = said(seen, f"{OVERDUE} end")
        yield habit(agree("after an overdue transaction Java is", behaved, Behaviour.FATAL, otherwise="not-fatal"))
        code = None if ended.error is None else ended.error.code
        yield habit(unless(code in (None, *FENCED), f"fenced: {told(ended)}", otherwise="not-told-fenced"))
    yield from as_it_said(seen)


GOOD = overdue_story(behaves=Behaviour.FATAL)
RECOVERS = overdue_story(behaves=Behaviour.ABORTABLE).with_fact("library", "librdkafka")

REQUIREMENT = Requirement(
    id="KIP588-RECOVER-05",
    source=Source(588, "Proposed Changes; Motivation"),
    statement="An application of the old protocol whose transaction timed out commits none of it, and is not stuck.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, RECOVERS),
    refuses=(
        Refusal("late-record-taken", overdue_story(behaves=Behaviour.FATAL, late_done=True)),
        Refusal("stuck", overdue_story(behaves=Behaviour.STUCK).with_fact("library", "librdkafka")),
        Refusal("not-fatal", overdue_story(behaves=Behaviour.ABORTABLE)),
        Refusal(
            "not-told-fenced",
            with_call(GOOD, f"{OVERDUE} end", error=overdue_story(behaves=Behaviour.FATAL, code=48).calls[6].error),
        ),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        LyingClient(lie="tells-records-done", anomaly="late-record-taken"),
        LyingClient(lie="misnames", anomaly="not-told-fenced"),
        *LIES,
    ),
)
