"""KIP890-VERIFY-07, KIP890-IMPL-03: once its leader knows a partition's transaction, further writes ask no coordinator.

What the leader asks the coordinator is held at the gate. That this stops every question is shown by that of a first
write to another partition of the same leader, which lies there, and by its answer, which waits until the release; the
further write does not. Older clients' questions verify a partition, new clients' add it. All of it is the KIP's: the
leader asks "if there is no ongoing transaction".
"""

from dataclasses import replace
from functools import partial
from typing import Literal

from harness.contract import (
    Access,
    Evidence,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import NO_TRANSACTION_ONGOING
from harness.contract.doctored import commit, data, ended, evidence, gate, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

VERSIONS: dict[int, tuple[int, ...]] = {1: (9, 11), 2: (12, 13)}
"""Of Produce, by the client's protocol."""


def stimulus(lab: Lab, protocol: Literal[1, 2]) -> None:
    """Two partitions of one leader, one written to before the link is held; while it is, both are written to."""
    for version in lab.offered("Produce", VERSIONS[protocol]):
        known = lab.partition(f"known-{version}")
        fresh, txn = lab.partition(f"fresh-{version}", leader=known.leader), lab.producer("victim", protocol=protocol)
        same = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=protocol, init=False)
        same.become(txn.producer_id, txn.epoch)
        link = lab.link(known.leader, txn.coordinator)
        if protocol == 1:
            txn.add(known, fresh)
        txn.produce(known, as_="first write", version=version)
        with lab.gate(link, api="AddPartitionsToTxn", action="hold", at_most=None, name=f"silence v{version}") as gated:
            waiting = same.start_produce(fresh, version=version)
            gated.wait()
            txn.produce(known, as_="further write", version=version)
        waiting.answer(as_="write to another")
        txn.end(commit=True, as_="end")


def check(seen: Evidence, protocol: Literal[1, 2]) -> Observations:
    """The further write is accepted before the release, the one that needs the coordinator waits for it."""
    del protocol
    firsts, furthers, others = seen.all("first write"), seen.all("further write"), seen.all("write to another")
    for first, further, other in zip(firsts, furthers, others, strict=True):
        hold = expect.struck(seen, other, by=f"silence v{other.version}")
        for write in (first, further):
            yield expect.accepted(write, otherwise="write-refused")
        at_once = further.answered_before(hold.ended)
        yield expect.unless(at_once, "it asked nobody", further, otherwise="coordinator-asked")
        values = [*first.written(), *further.written()]
        yield from expect.sound(seen, f"known-{first.version}", values)
        yield expect.accepted(other, otherwise="write-refused")
        yield from expect.sound(seen, f"fresh-{first.version}", other.written())
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")


def requirement(id_: str, section: str, protocol: Literal[1, 2], who: str) -> Requirement[Lab]:
    """The promise for clients of this protocol."""
    version = VERSIONS[protocol][0]
    known, fresh = f"known-{version}", f"fresh-{version}"
    good = evidence(
        written("first write", version, "a", to=known),
        _at(written("further write", version, "b", to=known), 30.0),
        _at(written("write to another", version, "c", to=fresh), 60.0),
        ended(),
        logs={
            known: log(data(7, 0, "a"), data(7, 0, "b", sequence=1), commit(7, 1)),
            fresh: log(data(7, 0, "c"), commit(7, 1)),
        },
        faults=(gate(f"silence v{version}", "hold", ended=50.0),),
    )
    return Requirement(
        id=id_,
        source=Source(890, section),
        statement=f"{who}'s further writes to a partition do not ask the coordinator.",
        needs=(Offers("Produce", version),),
        order=Order.HOLDS_LINKS,
        access=(Access.LINKS,),
        stimulus=partial(stimulus, protocol=protocol),
        check=partial(check, protocol=protocol),
        accepts=(good,),
        refuses=(
            Refusal("write-refused", good.with_step("first write", error=19)),
            Refusal("write-refused", good.with_step("further write", error=19)),
            Refusal("write-refused", good.with_step("write to another", error=19)),
            Refusal("coordinator-asked", good.with_step("further write", answered=55.0)),
            Refusal("end-refused", good.with_step("end", error=48)),
            *unsound(good, known),
            *unsound(good, fresh),
        ),
        refuted_by=(
            Failpoint(rules=NO_TRANSACTION_ONGOING, anomaly="write-refused"),
            Failpoint(rules=NO_TRANSACTION_ONGOING, anomaly="coordinator-asked"),
        ),
    )


def _at(step: Step, answered: float) -> Step:
    return replace(step, answered=answered)


REQUIREMENTS = (
    requirement("KIP890-VERIFY-07", "Ensure Ongoing Transaction for Older Clients (3)", 1, "An older client"),
    requirement(
        "KIP890-IMPL-03", "Implicitly Add Partitions to Transactions on Produce for New Clients", 2, "A new client"
    ),
)
