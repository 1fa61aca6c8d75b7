"""KIP890-COMPAT-11: the marker of the last transaction of the old protocol does not end the first one of the new.

Markers of the old transaction are held on their way to the leader while the client goes on at level 2. Were its next
transaction in the same epoch, the leader would take its record for one of the old transaction, and the late commit
marker would commit what is aborted here. Kafka's client asks for a new epoch at the switch (KAFKA-18227), which the KIP
does not name; what it promises is that transactions are not mixed. A client of the old protocol adds the partition
anew, and is asked the same.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from harness.base import wait
from harness.contract import Access, Evidence, LyingClient, Observations, Order, Refusal, Requirement, Source, expect
from harness.contract.clients.client_doctored import of_client, with_call
from harness.contract.clients.spoken import FEATURE
from harness.contract.clients.spoken_stories import OFFERED, begin, end, logged, started, told, write
from harness.contract.doctored import gate, log, strike
from harness.contract.expect import unless
from harness.lab.clients import Application, ClientLab
from harness.lab.clients.transact import begun, ended, transact
from harness.lab.partition import Partition
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.moved_levels import moved, with_moves
from suites.clients.forms.protocols import LEVELS, UNOFFERED, all_well, spoken_ones

MARKERS, LAST, FIRST, AFTER = "markers", "last old", "first new", "after"
TRYING_SECONDS = 1.0
"""That the client has to write while the marker is away."""


def stimulus(lab: ClientLab) -> None:
    """Commit in the old protocol, abort in the next one, while the commit's marker is on its way."""
    partition = lab.partition()
    with lab.lab.admin.keeping(FEATURE):
        moved(lab, 1)
        app = lab.application()
        app.init()
        begun(app, LAST, partition)
        moved(lab, 2, hang_up=True)
        app.produce(partition, f"{LAST} again", as_=f"{LAST} again")
        _while_held(lab, app, partition)
        transact(app, AFTER, partition)


def _while_held(lab: ClientLab, app: Application, partition: Partition) -> None:
    link = lab.lab.link(app.coordinator, partition.leader)
    with lab.lab.gate(link, api="WriteTxnMarkers", action="hold", name=MARKERS) as held, ThreadPoolExecutor(1) as pool:
        going = pool.submit(_go_on, app, partition)
        try:
            held.wait()
            wait.elapsed_ms_until(going.done, timeout_seconds=TRYING_SECONDS)
        finally:
            held.release()
        going.result()


def _go_on(app: Application, partition: Partition) -> None:
    ended(app, LAST)
    transact(app, FIRST, partition, ending="abort")


def check(seen: Evidence) -> Observations:
    """What was aborted is not shown, and the two protocols share no epoch."""
    expect.gated(seen, MARKERS)
    last, first = spoken_ones(seen, LAST, FIRST)
    shared = {*last.identities} & {*first.identities} if first.is_new else set()
    yield unless(
        not shared, f"epochs of the two transactions: {last.identities}, {first.identities}", otherwise="same-epoch"
    )
    yield from all_well(seen, LAST, FIRST, AFTER, otherwise="stopped-at-the-switch")


def _good(*, epoch: int = 1) -> Evidence:
    calls = [started(1), begin(LAST), write(LAST, new=False, epoch=0), end(LAST, new=False, epoch=0)]
    calls += [*told(FIRST, new=True, epoch=epoch, ending="abort"), *told(AFTER, new=True, epoch=epoch + 1)]
    batches = [
        *logged(LAST, new=False),
        *logged(FIRST, new=True, epoch=1, aborted=True),
        *logged(AFTER, new=True, epoch=2),
    ]
    seen = with_moves(of_client(*calls, logs={"P1": log(*batches)}, offered=OFFERED), 1, 2)
    held = gate(MARKERS, "hold", strike("WriteTxnMarkers", 1))
    return replace(seen, faults=(held,))


GOOD = _good()

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-11",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan: New Clients"),
    statement="The last transaction of the old protocol does not take in the first one of the new.",
    needs=LEVELS,
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES, Access.LANES, Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("same-epoch", _good(epoch=0)),
        Refusal("stopped-at-the-switch", with_call(GOOD, "first new end", outcome="refused")),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=(*GOOD.log("P1").committed, "first new P1"))),
        Refusal("lost", GOOD.with_log("P1", committed=())),
        Refusal("unoffered-version", GOOD.with_fact("offered", {"1": {"Produce": [0, 9]}})),
    ),
    refuted_by=(*LIES, LyingClient(lie="refuses-ends", anomaly="stopped-at-the-switch"), UNOFFERED),
)
