"""KIP890-COMPAT-05 and -06: a running client moves to the other protocol between two transactions, never in one.

The level is moved while a transaction is open, and every connection ends, because a client learns the level with a new
one. The KIP: after a rise it waits for the transaction to complete; after a fall it aborts it and starts again with the
old protocol. Kafka's client completes it then too, which brokers serve, so either way is taken. The fall is to level 1:
from 2 to 0 brokers up to 4.3 lose the open transaction themselves (KIP890-COMPAT-10 of the contract of brokers). The
first transaction of the new protocol has another epoch than the last of the old one (KAFKA-18227).
"""

from itertools import pairwise

from harness.contract import (
    Access,
    Evidence,
    Liar,
    LyingClient,
    Observations,
    Order,
    Refusal,
    Requirement,
    Source,
)
from harness.contract.clients.client_doctored import Told, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, said, succeeded
from harness.contract.clients.spoken import (
    FEATURE,
    SpokenTransaction,
    seen_level,
    speaks_new,
    speaks_old,
    spoken_transaction,
    within_offered,
)
from harness.contract.clients.spoken_stories import OFFERED, begin, end, logged, shown_level, started, told, write
from harness.contract.doctored import log
from harness.contract.expect import NotLooked, Observation, agree, unless
from harness.contract.refuters import Refuter
from harness.lab.clients import ClientLab
from harness.lab.clients.transact import begun, ended, transact
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.moved_levels import TOP, moved, was_moved, with_moves
from suites.clients.forms.protocols import LEVELS, UNOFFERED

RUNNING, FRESH = "running", "fresh"
LATER = ("next", "last")


def stimulus(lab: ClientLab, old: int, new: int) -> None:
    """One client runs through the move, another starts after it."""
    partition = lab.partition()
    with lab.lab.admin.keeping(FEATURE):
        moved(lab, old)
        app = lab.application(RUNNING)
        app.init()
        transact(app, "settled", partition)
        begun(app, "across", partition)
        moved(lab, new, hang_up=True)
        app.produce(partition, "across again", as_="across again")
        ended(app, "across")
        for name in LATER:
            transact(app, name, partition)
        newer = lab.application(FRESH)
        newer.init()
        transact(newer, FRESH, partition)


def check(seen: Evidence, old: int, new: int) -> Observations:
    """The open transaction goes on as it began; those after it are as the level says that the client was shown."""
    yield from was_moved(seen, old, new)
    settled, across, fresh = (spoken_transaction(seen, name) for name in ("settled", "across", FRESH))
    yield agree(f"protocol of {across}", across.protocols, settled.protocols, otherwise="changed-in-a-transaction")
    if new > old:
        yield succeeded(across.end, otherwise="torn-by-the-move")
    for name in LATER:
        yield _moved(seen, spoken_transaction(seen, name), new, is_new=fresh.is_new or settled.is_new)
        yield succeeded(said(seen, f"{name} end"), otherwise="stopped-by-the-move")
    for before, after in pairwise((across, *(spoken_transaction(seen, name) for name in LATER))):
        yield from _switched(before, after)
    yield from within_offered(seen)
    yield from as_it_said(seen)


def _moved(seen: Evidence, transaction: SpokenTransaction, new: int, *, is_new: bool) -> Observation:
    shown = seen_level(seen, RUNNING, transaction.begin.started)
    if shown is None or not is_new:
        return speaks_old(transaction, otherwise="new-protocol-unasked")
    if shown != new:
        return NotLooked(what=f"{transaction.name}: the client was not shown level {new} yet")
    return speaks_new(transaction) if new == TOP else speaks_old(transaction)


def _switched(before: SpokenTransaction, after: SpokenTransaction) -> Observations:
    """From the old protocol to the new one no epoch is shared."""
    if not before.is_new and after.is_new:
        what = f"epochs of the two protocols: {before.identities}, {after.identities}"
        yield unless(not {*before.identities} & {*after.identities}, what, otherwise="same-epoch")


def _good(old: int, new: int, *, moves: bool = True, keeps_epoch: bool = False, torn: bool = False) -> Evidence:
    """A client that learns the level in the open transaction; one that does not move, or within it."""
    first = old == TOP
    later = new == TOP if moves else first
    epoch, calls = 0, list[Told]()
    calls += [started(old, by=RUNNING), *told("settled", new=first, epoch=0, by=RUNNING)]
    epoch += first
    calls += [begin("across", by=RUNNING), write("across", new=first, epoch=epoch, by=RUNNING)]
    again = write(
        "across", new=first, epoch=epoch, by=RUNNING, value="across again", more=(shown_level(new, epoch=11),)
    )
    calls += [again, end("across", new=first != torn, epoch=epoch, by=RUNNING)]
    epoch += not keeps_epoch
    for name in LATER:
        calls += told(name, new=later, epoch=epoch, by=RUNNING)
        epoch += later
    calls += [started(new, by=FRESH), *told(FRESH, new=new == TOP, epoch=epoch + 1, by=FRESH)]
    names = ("settled", "across", *LATER, FRESH)
    batches = [*logged(*names, new=False)]
    seen = of_client(*calls, logs={"P1": log(*batches)}, offered=OFFERED)
    shown = (*seen.log("P1").committed, "across again")
    return with_moves(seen.with_log("P1", committed=shown), old, new)


def requirement(id_: str, old: int, new: int, statement: str, *refuters: Refuter) -> Requirement[ClientLab]:
    """The promise over this move."""
    good = _good(old, new)
    stays = "old-protocol-at-level-2" if new == TOP else "new-protocol-below-level-2"
    own = (
        (
            Refusal("same-epoch", _good(old, new, keeps_epoch=True)),
            Refusal("torn-by-the-move", with_call(good, "across end", outcome="unsure")),
        )
        if new == TOP
        else ()
    )
    return Requirement(
        id=id_,
        source=Source(890, "Compatibility, Deprecation, and Migration Plan: New Servers"),
        statement=statement,
        needs=LEVELS,
        order=Order.CHANGES_SETTINGS,
        access=(Access.CHANGES, Access.LANES),
        stimulus=lambda lab: stimulus(lab, old, new),
        check=lambda seen: check(seen, old, new),
        accepts=(good,),
        refuses=(
            *own,
            Refusal("level-not-changed", good.with_step(f"level {new}", error=95)),
            Refusal("changed-in-a-transaction", _good(old, new, torn=True)),
            Refusal(stays, _good(old, new, moves=False)),
            Refusal("stopped-by-the-move", with_call(good, "next end", outcome="unsure")),
            Refusal("unoffered-version", good.with_fact("offered", {"1": {"Produce": [0, 9]}})),
            Refusal("lost", good.with_log("P1", committed=())),
        ),
        refuted_by=(
            *refuters,
            LyingClient(lie="begins-anew", anomaly="changed-in-a-transaction"),
            LyingClient(lie="refuses-ends", anomaly="stopped-by-the-move"),
            *LIES,
            UNOFFERED,
        ),
    )


REQUIREMENTS = (
    requirement(
        "KIP890-COMPAT-05",
        0,
        2,
        "After the level rises a running client ends its transaction in the old protocol, then uses the new one.",
        Liar(api="ApiVersions", fields={"finalized_features_epoch": 0}, anomaly="old-protocol-at-level-2"),
        LyingClient(lie="refuses-ends", anomaly="torn-by-the-move"),
    ),
    requirement(
        "KIP890-COMPAT-06",
        2,
        1,
        "After the level falls a running client uses the old protocol from the next transaction on.",
        Liar(api="ApiVersions", fields={"finalized_features_epoch": 0}, anomaly="new-protocol-below-level-2"),
    ),
)
