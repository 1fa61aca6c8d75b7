"""KIP588-RECOVER-06: an application of the new protocol recovers from a timeout by aborting.

The KIP has the same instance go on; with epochs that change in each transaction the coordinator can tell its owner from
a zombie, takes the abort, and hands out the next epoch (KAFKA-19367; 4.0.0 refuses it). The transaction after it is of
another epoch and commits.
"""

from harness.contract import Evidence, LyingClient, NotSeen, Observations, Refusal, Release, Requirement, Source
from harness.contract.clients.client_doctored import with_call
from harness.contract.clients.client_expect import as_it_said, failed, said, succeeded
from harness.contract.clients.error_case import Behaviour
from harness.contract.clients.spoken import spoken_transaction
from harness.contract.expect import unless
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.overdue import OVERDUE, late_errors, outlive, overdue_story
from suites.clients.forms.protocols import LEVELS, NEW_CLIENTS


def stimulus(lab: ClientLab) -> None:
    """In the protocol that brokers and client agree upon."""
    outlive(lab)


def check(seen: Evidence) -> Observations:
    """The late record fails, the abort is done, the next transaction commits in another epoch."""
    overdue = spoken_transaction(seen, OVERDUE)
    if not overdue.is_new:
        raise NotSeen("the client spoke the old protocol")
    late_errors(seen)
    yield failed(said(seen, "late"), otherwise="late-record-taken")
    yield succeeded(said(seen, f"{OVERDUE} end"), otherwise="abort-refused")
    again = said(seen, "again end")
    yield succeeded(again, otherwise="not-recovered")
    if again.done:
        identities = spoken_transaction(seen, "again").identities
        what = f"producer id and epoch were {overdue.identities} and are {identities}"
        yield unless(not {*identities} & {*overdue.identities}, what, otherwise="no-epoch-bump")
    yield from as_it_said(seen)


GOOD = overdue_story(behaves=Behaviour.ABORTABLE, new=True)

REQUIREMENT = Requirement(
    id="KIP588-RECOVER-06",
    source=Source(588, "Proposed Changes"),
    statement="In the new protocol an application whose transaction timed out aborts it and goes on.",
    needs=(*LEVELS, NEW_CLIENTS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("late-record-taken", overdue_story(behaves=Behaviour.ABORTABLE, new=True, late_done=True)),
        Refusal("abort-refused", overdue_story(behaves=Behaviour.ABORTABLE, new=True, abort_done=False)),
        Refusal("not-recovered", with_call(GOOD, "again end", outcome="refused")),
        Refusal("no-epoch-bump", overdue_story(behaves=Behaviour.ABORTABLE, new=True, epoch_after=1)),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="abort-refused"),
        LyingClient(lie="refuses-ends", anomaly="not-recovered"),
        *LIES,
    ),
)
