"""KIP890-COMPAT-04: a client of any age works at every level of transaction.version, in a protocol that it allows.

The KIP's scenario 1 is the old client, which speaks the old protocol at each level and is verified by leaders; the new
client speaks as COMPAT-01 and -02 say. At each level one that starts there commits records and offsets, aborts, and
commits while its partition moves to another leader. That brokers serve the old protocol as before is asked of them by
the contract of brokers. That an old epoch stays is Kafka's habit for clients: a library may ask for a new one.
"""

from collections.abc import Sequence

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
    habit,
)
from harness.contract.clients.client_doctored import Told, of_client, with_call
from harness.contract.clients.spoken import FEATURE, SpokenTransaction, epochs_are, speaks_old, speaks_one
from harness.contract.clients.spoken_stories import OFFERED, begin, end, logged, started, told, write
from harness.contract.doctored import log
from harness.evidence.requirement_evidence import Batch
from harness.lab.clients import ClientLab
from harness.lab.clients.transact import begun, ended, joined, transact
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.moved_levels import moved, was_moved, with_moves
from suites.clients.forms.protocols import LEVELS, UNOFFERED, all_well, spoken_ones

ALL = (2, 1, 0)
WHICH = ("commit", "abort", "failover")


def names(level: int) -> list[str]:
    """Of the transactions at a level."""
    return [f"{level} {which}" for which in WHICH]


def stimulus(lab: ClientLab) -> None:
    """A client for each level."""
    partition = lab.partition(replicas=2)
    with lab.lab.admin.keeping(FEATURE):
        for level in ALL:
            moved(lab, level)
            group = lab.group()
            app = lab.application(f"at{level}", group=group)
            commit, abort, failover = names(level)
            app.init()
            joined(app, f"{level} joining", partition)
            transact(app, commit, partition, group=group)
            transact(app, abort, partition, ending="abort")
            begun(app, failover, partition)
            with lab.lab.moves.leader(partition, name=failover) as there:
                app.produce(there, f"{failover} there", as_=f"{failover} there")
                ended(app, failover)


def check(seen: Evidence) -> Observations:
    """One protocol in each transaction, below level 2 the old one; all end as asked."""
    yield from was_moved(seen, *ALL)
    for level in ALL:
        transactions = spoken_ones(seen, *names(level))
        for transaction in transactions:
            yield speaks_one(transaction)
            if level < max(ALL):
                yield speaks_old(transaction)
        yield from _epochs(transactions)
    yield from all_well(seen, *(name for level in ALL for name in names(level)), otherwise="fails-at-a-level")


def _epochs(transactions: Sequence[SpokenTransaction]) -> Observations:
    new = all(transaction.is_new for transaction in transactions)
    for observation in epochs_are(transactions, new=new):
        yield observation if new else habit(observation)


def _told(level: int, *, new: bool, mixed: bool, bumps: int) -> list[Told]:
    by = f"at{level}"
    commit, abort, failover = names(level)
    epochs = [number * bumps + 10 * (2 - level) for number in range(3)]
    return [
        started(level, by=by),
        *told(commit, new=new, epoch=epochs[0], by=by, offsets=True),
        *told(abort, new=new, epoch=epochs[1], by=by, ending="abort"),
        begin(failover, by=by),
        write(failover, new=new, epoch=epochs[2], by=by),
        end(failover, new=new != mixed, epoch=epochs[2], by=by),
    ]


def _good(*, new: tuple[int, ...] = (), mixed: bool = False, bumps: int = 0, offered: object = OFFERED) -> Evidence:
    calls: list[Told] = []
    batches: list[Batch] = []
    for level in ALL:
        commit, abort, failover = names(level)
        calls += _told(level, new=level in new, mixed=mixed and level == max(ALL), bumps=bumps)
        batches += logged(commit, failover, new=False)
        batches += logged(abort, new=False, aborted=True)
    return with_moves(of_client(*calls, logs={"P1": log(*batches)}, offered=offered), *ALL)  # type: ignore[arg-type]


GOOD = _good()

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-04",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan: Old Clients; New Servers"),
    statement="A client of any age works at every level, in one protocol that the level allows.",
    needs=LEVELS,
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("level-not-changed", GOOD.with_step("level 0", error=95)),
        Refusal("new-protocol-below-level-2", _good(new=ALL, bumps=1)),
        Refusal("mixed-protocols", _good(mixed=True)),
        Refusal("epoch-not-kept", _good(bumps=1)),
        Refusal("epoch-not-new", _good(new=(2,))),
        Refusal("fails-at-a-level", with_call(GOOD, "1 failover end", outcome="unsure")),
        Refusal("unoffered-version", _good(offered={"1": {"Produce": [0, 10]}})),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=(*GOOD.log("P1").committed, "2 abort P1"))),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        Liar(
            api="ApiVersions",
            fields={"max_version_level": 2, "min_version_level": 2},
            anomaly="new-protocol-below-level-2",
        ),
        LyingClient(lie="refuses-ends", anomaly="fails-at-a-level"),
        OtherClient(client="franz-go:1.19.1", anomaly="mixed-protocols"),
        *LIES,
        UNOFFERED,
    ),
)
