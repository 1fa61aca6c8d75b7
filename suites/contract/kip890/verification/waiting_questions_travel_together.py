"""KIP890-VERIFY-17: verifications that wait for a coordinator travel in one request, and each has its own answer.

Version 4 of AddPartitionsToTxn is there "to batch multiple waiting requests by transactional ID" (KIP-890, "Public
Interfaces"). One question lies at the gate; a dozen producers with transactional ids of their own write to the same
leader meanwhile. Half of the partitions were not added: each client must hear so by the error that its version has,
whoever travels with it (see suites/contract/findings/KIP890-VERIFY-17.md). How many questions there are is Kafka's.
"""

from dataclasses import replace

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
from harness.contract.byteman.verification_rules import WAITING_ONE_BY_ONE, coordinator_error_is_a_yes
from harness.contract.doctored import commit, data, ended, evidence, gate, log, refused_write, unsound, written
from harness.contract.refuters import Failpoint, Liar, Release
from harness.contract.version_tables import unadded, unadded_by_kip
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

PRODUCERS = 12
ANY_ANSWER_IS_A_YES = "".join(map(coordinator_error_is_a_yes, ("INVALID_TXN_STATE", "TRANSACTION_ABORTABLE")))
FEW = 4
"""Requests beside the first that a batching leader needs at most: one or two, and others when it is woken early."""


def stimulus(lab: Lab) -> None:
    """Twelve first writes while one question is under way, newer clients first, then older clients first."""
    versions = lab.offered("Produce", (9, 11))
    for name, order in (("newer", versions[::-1]), ("older", versions)):
        _batch(lab, name, order)


def _batch(lab: Lab, name: str, versions: tuple[int, ...]) -> None:
    asking = lab.producer()
    leader = lab.another_broker(asking.coordinator)
    first = lab.partition(f"{name}-first", leader=leader)
    asking.add(first)
    writers = [lab.producer(coordinator=asking.coordinator).apart() for _ in range(PRODUCERS)]
    partitions = [lab.partition(f"{name}-{number}", leader=leader) for number in range(PRODUCERS)]
    for number, (writer, partition) in enumerate(zip(writers, partitions, strict=True)):
        if number % 2:
            writer.add(partition)
    link = lab.link(leader, asking.coordinator)
    with (
        lab.gate(link, api="AddPartitionsToTxn", action="hold", name=f"all {name}", at_most=0),
        lab.gate(link, api="AddPartitionsToTxn", action="hold", name=f"held {name}") as held,
    ):
        pending = asking.start_produce(first)
        held.wait()
        writes = [
            writer.start_produce(partition, version=versions[number * len(versions) // PRODUCERS])
            for number, (writer, partition) in enumerate(zip(writers, partitions, strict=True))
        ]
        lab.sample(f"waiting {name}", *partitions)
        held.release()
        pending.answer(as_=f"first {name}")
        for number, write in enumerate(writes):
            write.answer(as_=f"{'added' if number % 2 else 'unadded'} {name}")
    for number, writer in enumerate((*writers, asking)):
        if number % 2 or writer is asking:
            writer.end(commit=True, as_=f"end {name}")


def check(seen: Evidence) -> Observations:
    """Few questions; those who added are taken and committed, those who did not are refused by their own version."""
    for name in ("newer", "older"):
        expect.gated(seen, f"held {name}")
        questions = seen.fault(f"all {name}").seen
        few = questions <= 1 + FEW
        together = f"{PRODUCERS} writes and one before them took {questions} questions"
        yield expect.habit(expect.unless(few, together, otherwise="one-question-each"))
        added, refused = seen.all(f"added {name}"), seen.all(f"unadded {name}")
        for step in (seen[f"first {name}"], *added, *seen.all(f"end {name}")):
            yield expect.accepted(step, otherwise="added-write-refused")
        for step in refused:
            own, allowed = unadded(step.version), unadded_by_kip(step.version)
            yield expect.refused(step, own, also=allowed, otherwise="unadded-write-accepted")
            yield from expect.sound(seen, _alias(step), (), appended="unadded-record-appended")
        for step in added:
            yield from expect.sound(seen, _alias(step), step.written())


def _alias(write: Step) -> str:
    named = write.request.get("partitions")
    return str(named[0]) if isinstance(named, list) else ""


def batch(name: str) -> Evidence:
    """A question that was held, and the writes of both kinds that came meanwhile."""
    aliases = {kind: f"{name}-{kind}" for kind in ("first", "added", "unadded 9", "unadded 11")}
    own = [("first", "a", 7), ("added", "b", 8)]
    return evidence(
        *(written(f"{kind} {name}", 9, value, to=aliases[kind]) for kind, value, _ in own),
        *(refused_write(f"unadded {name}", v, unadded(v), "lost", to=aliases[f"unadded {v}"]) for v in (9, 11)),
        ended(f"end {name}", version=4),
        logs={aliases[kind]: log(data(pid, 0, value), commit(pid, 0)) for kind, value, pid in own}
        | {aliases[f"unadded {v}"]: log() for v in (9, 11)},
        faults=(
            replace(gate(f"all {name}", "hold"), seen=2),
            gate(f"held {name}", "hold"),
        ),
    )


_NEWER, _OLDER = batch("newer"), batch("older")
GOOD = replace(
    _NEWER,
    steps=_NEWER.steps + _OLDER.steps,
    faults=_NEWER.faults + _OLDER.faults,
    logs={**_NEWER.logs, **_OLDER.logs},
)
_MANY = tuple(replace(fault, seen=13) if fault.name == "all older" else fault for fault in GOOD.faults)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-17",
    source=Source(890, "Public Interfaces (batching of waiting requests)"),
    statement="Verifications that wait for a coordinator travel together, and each client gets its own answer.",
    needs=(Offers("Produce", 9), Offers("AddPartitionsToTxn", 4)),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("one-question-each", replace(GOOD, faults=_MANY)),
        Refusal("added-write-refused", GOOD.with_step("first newer", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("added-write-refused", GOOD.with_step("added older", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("added-write-refused", GOOD.with_step("end newer", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unadded-write-accepted", GOOD.with_step("unadded older", error=0)),
        Refusal("wrong-error", GOOD.with_step("unadded newer", error=KafkaError.TRANSACTION_ABORTABLE)),
        *unsound(GOOD, "older-added"),
        *unsound(GOOD, "newer-unadded 9", appended="unadded-record-appended"),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="wrong-error"),
        Failpoint(rules=ANY_ANSWER_IS_A_YES, anomaly="unadded-write-accepted"),
        Failpoint(rules=WAITING_ONE_BY_ONE, anomaly="one-question-each"),
        Liar(api="Produce", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="added-write-refused"),
    ),
)
