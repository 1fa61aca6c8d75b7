"""KIP890-COMPAT-02: a new client uses the old protocol where brokers know the new one and finalize a lower level.

The versions of the new protocol are advertised at every level; the level alone says whether they may be used. franz-go
1.19.1 went by the versions, and its transactions failed.
"""

from harness.contract import (
    Access,
    Evidence,
    Liar,
    LyingClient,
    Observations,
    Order,
    OtherClient,
    Refusal,
    Requirement,
    Source,
)
from harness.contract.clients.client_doctored import Told, of_client, with_call
from harness.contract.clients.spoken import FEATURE, epochs_are, speaks_old
from harness.contract.clients.spoken_stories import OFFERED, logged, started, told
from harness.contract.doctored import log
from harness.evidence.requirement_evidence import Batch
from harness.lab.clients import ClientLab
from harness.lab.clients.transact import joined, transact
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.moved_levels import moved, was_moved, with_moves
from suites.clients.forms.protocols import LEVELS, NEW_CLIENTS, UNOFFERED, all_well, spoken_ones

BELOW = (1, 0)
WHICH = ("first", "second")


def stimulus(lab: ClientLab) -> None:
    """At each level a client that starts there: two transactions with records and offsets."""
    partition = lab.partition()
    with lab.lab.admin.keeping(FEATURE):
        for level in BELOW:
            moved(lab, level)
            group = lab.group()
            app = lab.application(f"at{level}", group=group)
            app.init()
            joined(app, f"{level} joining", partition)
            for name in names(level):
                transact(app, name, partition, group=group)


def names(level: int) -> list[str]:
    """Of the transactions at a level."""
    return [f"{level} {which}" for which in WHICH]


def check(seen: Evidence) -> Observations:
    """At both levels nothing of the new protocol was sent, and the epoch stayed."""
    yield from was_moved(seen, *BELOW)
    for level in BELOW:
        transactions = spoken_ones(seen, *names(level))
        for transaction in transactions:
            yield speaks_old(transaction)
        yield from epochs_are(transactions, new=False)
    yield from all_well(seen, *names(1), *names(0), otherwise="old-protocol-fails")


def _good(*, new: bool = False, bumps: int = 0, **facts: object) -> Evidence:
    calls: list[Told] = []
    batches: list[Batch] = []
    for level in BELOW:
        first, second = names(level)
        by, epoch = f"at{level}", 1 - level
        calls += [started(level, by=by), *told(first, new=new, epoch=epoch, by=by, offsets=True)]
        calls += told(second, new=new, epoch=epoch + bumps, by=by, offsets=True)
        batches += logged(first, second, new=False, epoch=epoch)
    seen = of_client(*calls, logs={"P1": log(*batches)}, **{"offered": OFFERED, **facts})  # type: ignore[arg-type]
    return with_moves(seen, *BELOW)


GOOD = _good()

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-02",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan: New Servers"),
    statement="Where a lower level than 2 is finalized a new client uses the old protocol.",
    needs=(*LEVELS, NEW_CLIENTS),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("level-not-changed", GOOD.with_step("level 0", error=95)),
        Refusal("new-protocol-below-level-2", _good(new=True)),
        Refusal("epoch-not-kept", _good(bumps=1)),
        Refusal("old-protocol-fails", with_call(GOOD, "0 second end", outcome="unsure")),
        Refusal("unoffered-version", _good(offered={"1": {"Produce": [0, 10]}})),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        Liar(
            api="ApiVersions",
            fields={"max_version_level": 2, "min_version_level": 2},
            anomaly="new-protocol-below-level-2",
        ),
        OtherClient(client="franz-go:1.19.1", anomaly="new-protocol-below-level-2"),
        OtherClient(client="franz-go:1.19.1", anomaly="epoch-not-kept"),
        Liar(api="UpdateFeatures", error=95, at_most=1, anomaly="level-not-changed"),
        LyingClient(lie="refuses-ends", anomaly="old-protocol-fails"),
        *LIES,
        UNOFFERED,
    ),
)
