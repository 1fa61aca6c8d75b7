"""KIP890-COMPAT-10-CLIENT: transaction.version may go up and down under clients that work, and nothing is lost.

Two applications do transactions all the time, and at each move every connection ends, so that they learn the level. It
moves between 2 and 1: from 2 to 0 brokers up to 4.3 lose transactions themselves (KIP890-COMPAT-10). That no instance
has to be replaced is how clients are meant to live through it, and a habit; what becomes of records is the promise.
"""

from harness.base.json_value import Json
from harness.contract import Access, LyingClient, Observations, Order, Refusal, Requirement, Source
from harness.contract.clients.spoken import FEATURE
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.at_work import at_work
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.moved_levels import moved, was_moved, with_moves
from suites.clients.forms.protocols import LEVELS
from suites.clients.forms.working_through import WORK, phase_over, work_refusals, work_story, worked_through

MOVES = (1, 2, 1, 2)
NAMES = tuple(f"move {number} to {level}" for number, level in enumerate(MOVES, 1))


def stimulus(lab: ClientLab) -> None:
    """The level goes down and up, twice."""
    partition, other = lab.partition("P1"), lab.partition("P2")
    phases: list[Json] = []
    with (
        lab.lab.admin.keeping(FEATURE),
        at_work(lab, WORK, partition) as work,
        at_work(lab, "beside", other),
    ):
        for name, level in zip(NAMES, MOVES, strict=True):
            moved(lab, level, hang_up=True)
            phase_over(lab, work, name, phases)


def check(seen: Evidence) -> Observations:
    """Every move was taken, and the applications worked through all of them."""
    yield from was_moved(seen, *MOVES)
    yield from worked_through(seen, *NAMES)


GOOD = with_moves(work_story(*NAMES), *MOVES)

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-10-CLIENT",
    source=Source(890, "Transaction Feature Version (0); Compatibility: New Servers"),
    statement="Clients at work lose nothing while transaction.version moves between 2 and 1.",
    needs=LEVELS,
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES, Access.LANES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(Refusal("level-not-changed", GOOD.with_step("level 1", error=95)), *work_refusals(GOOD)),
    refuted_by=(
        *LIES,
        LyingClient(lie="refuses-ends", anomaly="no-commit-after"),
        LyingClient(lie="ends-after-three", anomaly="instance-is-over"),
        LyingClient(lie="leaves-open", anomaly="stuck-lso"),
    ),
)
