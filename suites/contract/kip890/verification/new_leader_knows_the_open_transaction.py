"""KIP890-VERIFY-08, KIP890-IMPL-04: that a transaction is open on a partition is known to the partition's next leader.

The partition is led by another of its replicas, and what that one asks the coordinator is held at the gate. That this
stops every question is shown by that of a first write to another partition of the new leader, which lies there, and by
its answer, which waits until the release. The KIP has the leader's own producer state say so ("the producer state
entry"), which followers build from what they copy.
"""

from dataclasses import replace
from functools import partial
from typing import Literal

from harness.contract import (
    Access,
    Evidence,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import NO_TRANSACTION_ONGOING
from harness.contract.doctored import commit, data, ended, evidence, gate, known_producer, log, sample, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab
from harness.lab.partition import Partition
from harness.lab.producer import Producer

VERSIONS: dict[int, tuple[int, ...]] = {1: (9, 11), 2: (12, 13)}
"""Of Produce, by the client's protocol."""
NEW = "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"
OLD = "Ensure Ongoing Transaction for Older Clients (3)"


def stimulus(lab: Lab, protocol: Literal[1, 2]) -> None:
    """A transaction is begun on one leader and goes on at the next, which cannot ask the coordinator."""
    for version in lab.offered("Produce", VERSIONS[protocol]):
        known, txn = lab.partition(f"known-{version}", replicas=3), lab.producer("victim", protocol=protocol)
        third = lab.another_broker(known.leader, txn.coordinator)
        fresh = lab.partition(f"fresh-{version}", leader=third)
        if protocol == 1:
            txn.add(known, fresh)
        txn.produce(known, as_="first write", version=version)
        with lab.moves.leader(known, to=third, name=f"move v{version}") as moved:
            go_on(lab, txn, moved, fresh, version)
            txn.end(commit=True, as_="end")
            lab.completed(moved)


def go_on(lab: Lab, txn: Producer, known: Partition, fresh: Partition, version: int) -> None:
    """Writes to both partitions while what their leader asks the coordinator is held."""
    same = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=txn.protocol, init=False)
    same.become(txn.producer_id, txn.epoch)
    link = lab.link(known.leader, txn.coordinator)
    with lab.gate(link, api="AddPartitionsToTxn", action="hold", at_most=None, name=f"silence v{version}") as gated:
        waiting = same.start_produce(fresh, version=version)
        gated.wait()
        lab.observer.producers(known, as_="producers")
        txn.produce(known, as_="further write", version=version)
        lab.sample(f"moved v{version}", known)  # a new leader's high watermark lags until followers have fetched
    waiting.answer(as_="write to another")


def check(seen: Evidence) -> Observations:
    """The new leader shows the transaction as open since the first write, and takes the next one without a question."""
    writes = zip(seen.all("first write"), seen.all("further write"), seen.all("write to another"), strict=True)
    for (first, further, other), looked in zip(writes, seen.all("producers"), strict=True):
        hold, version = expect.struck(seen, other, by=f"silence v{first.version}"), first.version
        seen.fault(f"move v{version}")
        if first.node == further.node:
            raise NotSeen("both writes went to the same leader")
        for write in (first, further, other):
            yield expect.accepted(write, otherwise="write-refused")
        at_once = further.answered_before(hold.ended)
        yield expect.unless(at_once, "it asked nobody", further, otherwise="coordinator-asked")
        own, base = first.request_int("producer_id"), first.answer_int("base_offset")
        yield expect.open_since(looked, own, base, otherwise="transaction-forgotten")
        yield expect.unstable(seen.sample(f"moved v{version}"), otherwise="transaction-forgotten")
        yield from expect.sound(seen, f"known-{version}", [*first.written(), *further.written()])
        yield from expect.sound(seen, f"fresh-{version}", other.written())
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")


def requirement(id_: str, section: str, protocol: Literal[1, 2], who: str) -> Requirement[Lab]:
    """The promise for clients of this protocol."""
    version = VERSIONS[protocol][0]
    known, fresh = f"known-{version}", f"fresh-{version}"
    good = evidence(
        written("first write", version, "a", to=known),
        known_producer("producers", since=0),
        replace(written("further write", version, "b", to=known), answered=30.0, node=2),
        written("write to another", version, "c", to=fresh),
        ended(),
        logs={
            known: log(data(7, 0, "a"), data(7, 0, "b", sequence=1), commit(7, 1)),
            fresh: log(data(7, 0, "c"), commit(7, 1)),
        },
        faults=(
            gate(f"silence v{version}", "hold", ended=50.0),
            Fault(name=f"move v{version}", kind="move", where="1 → 2", started=0, ended=0),
        ),
        samples=(sample(f"moved v{version}", known, 2, 0),),
    )
    return Requirement(
        id=id_,
        source=Source(890, section),
        statement=f"A new leader goes on with {who}'s open transaction without asking the coordinator.",
        needs=(Offers("Produce", version),),
        order=Order.HOLDS_LINKS,
        access=(Access.LINKS, Access.BROKERS, Access.CHANGES),
        stimulus=partial(stimulus, protocol=protocol),
        check=check,
        accepts=(good,),
        refuses=(
            Refusal("write-refused", good.with_step("first write", error=19)),
            Refusal("write-refused", good.with_step("further write", error=19)),
            Refusal("write-refused", good.with_step("write to another", error=19)),
            Refusal("coordinator-asked", good.with_step("further write", answered=55.0)),
            Refusal("transaction-forgotten", good.with_step("producers", producers=[])),
            Refusal("transaction-forgotten", good.with_sample(f"moved v{version}", last_stable_offset=2)),
            Refusal("end-refused", good.with_step("end", error=48)),
            *unsound(good, known),
            *unsound(good, fresh),
        ),
        refuted_by=(
            Failpoint(rules=NO_TRANSACTION_ONGOING, anomaly="write-refused"),
            Liar(api="DescribeProducers", fields={"current_txn_start_offset": -1}, anomaly="transaction-forgotten"),
        ),
    )


REQUIREMENTS = (
    requirement("KIP890-VERIFY-08", "Ensure Ongoing Transaction for Older Clients (3)", 1, "an older client"),
    requirement(
        "KIP890-IMPL-04", "Implicitly Add Partitions to Transactions on Produce for New Clients", 2, "a new client"
    ),
)
