"""KIP890-COMPAT-09-CLIENT: clients that work while brokers are upgraded one by one lose nothing, and work on.

Brokers of 3.9 are replaced by the judged release, the controller first; then the level is raised to 2. Between the
steps the application must have committed again. COMPAT-09 asks it of brokers with raw requests; here a library finds
coordinators and leaders again by itself, in versions that change under it. That no instance has to be replaced is how
clients are meant to live through it, and a habit; what becomes of records is the promise.
"""

from harness.base.json_value import Json
from harness.contract import Access, Liar, LyingClient, Observations, Order, Refusal, Requirement, Source, expect
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.at_work import at_work
from suites.clients.client_wishes import BROKERS_OF_39
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.moved_levels import moved, with_moves
from suites.clients.forms.protocols import LEVELS
from suites.clients.forms.working_through import WORK, phase_over, work_refusals, work_story, worked_through

NODES = tuple(sorted(BROKERS_OF_39.releases, reverse=True))
PHASES = (*(f"node {node}" for node in NODES), "level 2")
PATIENCE_MS = 60_000
"""Of one call; a broker that is started again is away for some seconds."""


def stimulus(lab: ClientLab) -> None:
    """Node by node, then the level."""
    partition = lab.partition("P1", replicas=3)
    phases: list[Json] = []
    waits = {"block_ms": PATIENCE_MS, "delivery_timeout_ms": PATIENCE_MS, "transaction_timeout_ms": PATIENCE_MS}
    with at_work(lab, WORK, partition, **waits) as work:  # type: ignore[arg-type]
        for node in NODES:
            lab.lab.releases.run(node, name=f"node {node}")
            phase_over(lab, work, f"node {node}", phases)
        moved(lab, 2, hang_up=True)
        phase_over(lab, work, PHASES[-1], phases)


def check(seen: Evidence) -> Observations:
    """The level was raised, and the application worked through all of it."""
    yield expect.accepted(seen["level 2"], otherwise="level-not-raised")
    yield from worked_through(seen, *PHASES)


GOOD = with_moves(work_story(*PHASES), 2)

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-09-CLIENT",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan"),
    statement="A client at work loses nothing in a rolling upgrade of the brokers, and works on.",
    needs=LEVELS,
    order=Order.HURTS_CLUSTER,
    access=(Access.CHANGES, Access.NODES, Access.LANES),
    cluster=BROKERS_OF_39,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(Refusal("level-not-raised", GOOD.with_step("level 2", error=95)), *work_refusals(GOOD)),
    refuted_by=(
        *LIES,
        LyingClient(lie="refuses-ends", anomaly="no-commit-after"),
        Liar(api="UpdateFeatures", error=95, at_most=1, anomaly="level-not-raised"),
    ),
)
