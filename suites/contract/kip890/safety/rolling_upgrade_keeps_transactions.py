"""KIP890-COMPAT-09: transactions that are open while brokers are upgraded one by one are neither lost nor torn.

Data of 3.9 is taken over by the judged release: the controller first, then each broker. At each restart three
producers of the old protocol have a transaction open on three replicated partitions; each broker coordinates one and
leads one. After it they write on, two commit and one aborts, and readers must get past it before the next broker goes.
Then the level is raised over open transactions, and the new protocol is used. The KIP's promise is that new servers
serve old clients as before; the requests are raw, so how client libraries live through an upgrade is not asked here.
"""

from contextlib import suppress
from dataclasses import replace

from harness.base.wait import TimedOut
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.marker_rules import MARKERS_ABORT
from harness.contract.checks.feature_checks import FEATURE
from harness.contract.doctored import abort, commit, data, ended, evidence, log, sample, step, unsound, written
from harness.contract.refuters import Failpoint, Liar, Release
from harness.contract.requirement import Feature
from harness.lab import Lab
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from suites.contract.wishes import UPGRADED_FROM_39

NODES = sorted(UPGRADED_FROM_39.releases, reverse=True)
ROUNDS = (*(f"node {node}" for node in NODES), "level", "new protocol")
TIMEOUT_MS = 600_000
"""Of transactions that stay open while a broker ends and starts, on however busy a machine."""
ABORTING = 2
"""The broker whose producer aborts."""


def stimulus(lab: Lab) -> None:
    """Transactions over every restart and over the raise, and some of the new protocol."""
    brokers = lab.cluster.topology.brokers
    places = [lab.partition(f"P{broker}", leader=broker, replicas=len(brokers)) for broker in brokers]
    txns = [lab.producer(coordinator=broker, timeout_ms=TIMEOUT_MS) for broker in brokers]
    for node in NODES:
        _write(txns, places, f"node {node}")
        lab.releases.run(node, name=f"node {node}")
        _finish(lab, txns, places, f"node {node}")
    _write(txns, places, "level")
    lab.levels.ask(FEATURE, 2, as_="raise")
    lab.levels.shown(FEATURE, 2, as_="raised")
    _finish(lab, txns, places, "level")
    new = [lab.same_id(txn.transactional_id, txn.coordinator, "victim", protocol=2) for txn in txns]
    _write(new, places, "new protocol")
    _finish(lab, new, places, "new protocol")


def _write(txns: list[Producer], places: list[Partition], name: str) -> None:
    for txn in txns:
        for place in places:
            if txn.protocol == 1:
                txn.add(place)
            txn.produce(place, as_=f"write {name}")


def _finish(lab: Lab, txns: list[Producer], places: list[Partition], name: str) -> None:
    _write(txns, places, name)
    for txn in txns:
        txn.end(commit=txn.coordinator != ABORTING, as_=f"end {name}")
    with suppress(TimedOut):  # the sample shows it
        lab.completed(*places)
    for place in places:
        lab.sample(f"{place.alias} after {name}", place)


def check(seen: Evidence) -> Observations:
    """Every step is taken, every transaction is over before the next restart, and what was committed is shown."""
    values: dict[str, list[str]] = {place: [] for place in PLACES}
    shown: dict[str, list[str]] = {place: [] for place in PLACES}
    for name in ROUNDS:
        ends = seen.all(f"end {name}")
        for asked in (*seen.all(f"write {name}"), *ends):
            yield expect.accepted(asked, otherwise="refused-during-the-upgrade")
        committed = {end.request_int("producer_id") for end in ends if end.request["committed"]}
        for place in PLACES:
            yield expect.stable(seen.sample(f"{place} after {name}"), otherwise="stuck-during-the-upgrade")
            for write in expect.writes(seen, place, f"write {name}"):
                values[place] += write.written()
                shown[place] += write.written() if write.request_int("producer_id") in committed else ()
    for place in PLACES:
        yield from expect.sound(seen, place, values[place], committed=shown[place], shown="wrong-result-shown")
    yield expect.accepted(seen["raise"], otherwise="level-not-raised")


PLACES = ("P1", "P2", "P3")

GOOD = evidence(
    *(
        written(f"write {name}", 11, f"{place} {name} {who}", producer_id=id_, to=place)
        for place in PLACES
        for name in ROUNDS
        for who, id_ in (("a", 7), ("b", 8))
    ),
    *(ended(f"end {name}", version=4, producer_id=id_, committed=id_ == 7) for name in ROUNDS for id_ in (7, 8)),
    step("raise", "UpdateFeatures", 2),
    samples=tuple(sample(f"{place} after {name}", place, 4, 4) for place in PLACES for name in ROUNDS),
    logs={
        place: log(
            *(
                batch
                for name in ROUNDS
                for batch in (
                    data(7, 0, f"{place} {name} a"),
                    data(8, 0, f"{place} {name} b"),
                    commit(7, 0),
                    abort(8, 0),
                )
            )
        )
        for place in PLACES
    },
)

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-09",
    source=Source(890, "Compatibility: Old Clients, New Servers"),
    statement="Transactions in flight survive a rolling upgrade of the brokers.",
    needs=(Offers("UpdateFeatures", 1), Offers("EndTxn", 5), Offers("Produce", 12), Feature(FEATURE, 2)),
    order=Order.HURTS_CLUSTER,
    access=(Access.CHANGES, Access.NODES),
    cluster=replace(UPGRADED_FROM_39, fresh="rolling upgrade"),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("level-not-raised", GOOD.with_step("raise", error=KafkaError.INVALID_UPDATE_VERSION)),
        Refusal("refused-during-the-upgrade", GOOD.with_step("write node 1", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("refused-during-the-upgrade", GOOD.with_step("end level", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("stuck-during-the-upgrade", GOOD.with_sample("P2 after node 3", last_stable_offset=1)),
        *(refusal for place in PLACES for refusal in unsound(GOOD, place, shown="wrong-result-shown")),
    ),
    refuted_by=(
        Release(version="4.2.0", anomaly="stuck-during-the-upgrade"),
        Liar(api="EndTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="refused-during-the-upgrade"),
        Failpoint(rules=MARKERS_ABORT, anomaly="wrong-result-shown"),
    ),
)
