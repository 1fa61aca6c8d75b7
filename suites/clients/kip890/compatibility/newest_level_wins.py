"""KIP890-COMPAT-07: a client that is connected to brokers which show different levels goes by the newest.

One broker seems to lag behind: to this client its ApiVersions answers show level 1 in the first epoch of features. The
KIP: the new protocol is used when one broker has the level, «even if not all brokers have» it, as each has the code.
So both transactions speak the new protocol, to the lagging broker as well, which leads the partition; and a client to
which every broker seems to lag behind speaks the old one.
"""

from harness.contract import Evidence, Liar, LyingClient, NotSeen, Observations, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import Told, of_client, with_call
from harness.contract.clients.client_expect import sent
from harness.contract.clients.spoken import seen_level, speaks_new, speaks_old, spoken_transaction
from harness.contract.clients.spoken_stories import OFFERED, logged, shown_level, started, told
from harness.contract.doctored import log
from harness.contract.requirement import Access
from harness.lab.clients import ClientLab
from harness.lab.clients.transact import transact
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.protocols import LEVELS, NEW_CLIENTS, UNOFFERED, all_well

LAGGING, ALONE, NAMES = "lagging", "alone", ("first", "second")


def stimulus(lab: ClientLab) -> None:
    """One client with one lagging broker among others, and one with nothing else."""
    partition = lab.partition()
    lab.lab.another_broker(partition.leader)
    lab.lab.note(LAGGING, partition.leader)
    app = lab.application(stale=(partition.leader,))
    app.init()
    for name in NAMES:
        transact(app, name, partition)
    behind = lab.application(ALONE, protocol=1)
    behind.init()
    transact(behind, ALONE, partition)


def check(seen: Evidence) -> Observations:
    """The second transaction began when both levels had been shown."""
    second, alone = spoken_transaction(seen, NAMES[-1]), spoken_transaction(seen, ALONE)
    asked = sent(seen, "ApiVersions", by="app", before=second.begin.started)
    if seen.fact(LAGGING) not in {frame.node for frame in asked}:
        raise NotSeen("the client was not connected to the broker that lags behind")
    if seen_level(seen, "app", second.begin.started) != 2:
        raise NotSeen("no broker showed level 2 to the client")
    yield speaks_new(second, otherwise="older-level-wins")
    yield speaks_old(alone)
    yield from all_well(seen, *NAMES, ALONE, otherwise="lagging-broker-fails")


def _good(*, new: bool = True, alone: bool = False) -> Evidence:
    init = started()
    calls = [Told(init.call, (shown_level(1, epoch=9), *init.frames)), *told("first", new=True)]
    calls += told("second", new=new, epoch=1)
    calls += [started(1, by=ALONE), *told(ALONE, new=alone, epoch=3, by=ALONE)]
    logs = {"P1": log(*logged("first", "second", ALONE, new=True))}
    return of_client(*calls, logs=logs, offered=OFFERED, lagging=1)


GOOD = _good()

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-07",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan: New Servers"),
    statement="A client goes by the newest level that any of its brokers shows.",
    needs=(*LEVELS, NEW_CLIENTS),
    access=(Access.BROKERS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("older-level-wins", _good(new=False)),
        Refusal("new-protocol-below-level-2", _good(alone=True)),
        Refusal("lagging-broker-fails", with_call(GOOD, "second end", outcome="unsure")),
        Refusal("unoffered-version", GOOD.with_fact("offered", {"1": {"Produce": [0, 9]}})),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        Liar(api="ApiVersions", fields={"finalized_features_epoch": -1}, anomaly="older-level-wins"),
        LyingClient(lie="refuses-ends", anomaly="lagging-broker-fails"),
        *LIES,
        UNOFFERED,
    ),
)
