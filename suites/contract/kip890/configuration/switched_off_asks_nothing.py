"""KIP890-CFG-03: with the switch off no verification travels to a coordinator; adds of new clients still do.

Requests that brokers send, AddPartitionsToTxn from version 4 on, are counted by the coordinator: of old clients' first
writes with the switch on, with it off, and of new clients' with it off. The KIP's switch "will not apply to the adding
of the new partitions for newer clients".
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import ADDS_STAY_WITH_THE_LEADER, SWITCH_ALWAYS_ON
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.beyond_requests.metrics import requests

CLIENTS = 2
COUNTED = {"on": CLIENTS, "off": 0, "adds": CLIENTS}
NAMES = ("AddPartitionsToTxn", "AddPartitionsToTxnVerification")
"""A request that only verifies is counted under a name of its own (``RequestMetrics``)."""
BETWEEN_BROKERS = (4, 5)


def stimulus(lab: Lab) -> None:
    """First writes of two clients at a time, all of one coordinator."""
    partition, first = lab.partition("P1"), lab.producer()
    clients = [first, *(lab.producer(coordinator=first.coordinator) for _ in range(2 * CLIENTS - 1))]
    new = CLIENTS if lab.offered("Produce", (12,)) else 0
    adding = [lab.producer(protocol=2, coordinator=first.coordinator) for _ in range(new)]
    for txn in clients:
        txn.add(partition)
    _count(lab, "on", clients[:CLIENTS], partition)
    with lab.admin.unverified():
        _count(lab, "off", clients[CLIENTS:], partition)
        if adding:
            _count(lab, "adds", adding, partition)
    for txn in (*clients, *adding):
        txn.end(commit=True)


def _count(lab: Lab, name: str, txns: list[Producer], partition: Partition) -> None:
    travelling = [requests(name, version) for name in NAMES for version in BETWEEN_BROKERS]
    coordinator = (txns[0].coordinator,)
    with lab.metrics.counted(name, *travelling, nodes=coordinator, least=COUNTED[name]):
        for txn in txns:
            txn.produce(partition, version=9 if name != "adds" else None, as_=name)


def check(seen: Evidence) -> Observations:
    """One for each first write with the switch on, none with it off, one for each add."""
    if seen.fact("on") != CLIENTS:
        raise NotSeen(f"{seen.fact('on')} verifications travelled with the switch on")
    for name, promised in COUNTED.items():
        writes = expect.taken(seen, name)
        for write in writes:
            yield expect.accepted(write, otherwise="write-refused")
        if writes:
            anomaly = "add-left-out" if name == "adds" else "verified-all-the-same"
            yield expect.agree(f"requests of {name}", seen.fact(name), promised, *writes, otherwise=anomaly)
    yield from expect.sound(seen)


GOOD = adopted(__file__, "KIP890-CFG-03")

REQUIREMENT = Requirement(
    id="KIP890-CFG-03",
    source=Source(890, "Configurations"),
    statement="With the switch off no verification travels; adds of new clients still do.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.METRICS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.without_step("adds")),
    refuses=(
        *(Refusal("write-refused", GOOD.with_step(name, error=48)) for name in COUNTED),
        Refusal("verified-all-the-same", GOOD.with_fact("off", CLIENTS)),
        Refusal("add-left-out", GOOD.with_fact("adds", 0)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=SWITCH_ALWAYS_ON, anomaly="verified-all-the-same"),
        Failpoint(rules=ADDS_STAY_WITH_THE_LEADER, anomaly="add-left-out"),
    ),
)
