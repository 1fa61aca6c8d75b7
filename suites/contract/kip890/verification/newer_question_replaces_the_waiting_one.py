"""KIP890-VERIFY-16: while a leader waits for the coordinator, one question of each transactional id waits with it.

The first write's verification lies at the gate; two more writes of the same producer come to the leader over
connections of their own, and a late one of an older epoch. Of the two the newer replaces the older, whose client has to
try again; the late one is fenced. That nothing is written unverified, that who is refused so tries again, and that
old epochs are fenced are the KIP's; that it is at once, and the codes, are Kafka's (``AddPartitionsToTxnManager``).
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from harness.base.wait import TimedOut, until
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman import verification_rules as rules
from harness.contract.doctored import commit, data, ended, evidence, gate, log, refused_write, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import unverified_message
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, PendingRequest
from harness.wire.requests.log.produce import ProduceResult

RETRIABLE, STALE = KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.INVALID_PRODUCER_EPOCH
ALLOWED = tuple(error for error in KafkaError if error.retriable)
WHY = unverified_message(KafkaError.NETWORK_EXCEPTION)
ANSWER_SECONDS = 5.0
PARTS = ("asked", "one", "other", "stale")


def stimulus(lab: Lab) -> None:
    """Four writes to partitions of one leader, the first of them under way; the refused one is repeated."""
    for version in lab.offered("Produce", (9, 11)):
        txn = lab.producer()
        txn.init(identity=(txn.producer_id, txn.epoch), version=4)
        leader = lab.another_broker(txn.coordinator)
        asked, one, other, stale = (lab.partition(f"{part}-v{version}", leader=leader) for part in PARTS)
        txn.add(asked, one, other)
        link, name = lab.link(leader, txn.coordinator), f"question v{version}"
        with lab.gate(link, api="AddPartitionsToTxn", action="hold", name=name) as gated:
            first = txn.start_produce(asked, version=version)
            gated.wait()
            waiting = [txn.apart().start_produce(partition, version=version) for partition in (one, other)]
            _answered(waiting)
            late = txn.apart().start_produce(stale, version=version, epoch=txn.epoch - 1)
            _answered([late])
            gated.release()
            first.answer(as_=f"asked v{version}")
            steps = [each.answer(as_=f"waiting v{version}") for each in waiting]
            late.answer(as_=f"stale v{version}")
        for partition, step in zip((one, other), steps, strict=True):
            if step.error == RETRIABLE:
                txn.produce(partition, version=version, as_=f"again v{version}")
        txn.end(commit=True, as_=f"end v{version}")


def _answered(pending: list[PendingRequest[ProduceResult]]) -> None:
    """Until one of them is; the check judges where none is."""
    with suppress(TimedOut):
        until(lambda: any(each.done() for each in pending), what="an answer", timeout_seconds=ANSWER_SECONDS)


def check(seen: Evidence) -> Observations:
    """One of the two waiting writes is refused as retriable, the late one fenced; the others are committed."""
    for version in [step.version for step in seen.steps if step.name.startswith("asked ")]:
        held = expect.gated(seen, f"question v{version}")
        pair, late = seen.all(f"waiting v{version}"), seen[f"stale v{version}"]
        refused = [step for step in pair if step.error != 0]
        yield expect.habit(expect.agree("refused of two", len(refused), 1, *pair, otherwise="not-replaced"))
        for step in refused:
            yield expect.refused(step, RETRIABLE, also=ALLOWED, otherwise="not-replaced")
            if step.error == RETRIABLE:
                yield expect.habit(expect.explained(step, WHY))
        yield expect.refused(late, STALE, code=Level.SHOULD, otherwise="stale-write-accepted")
        at_once = all(step.answered_before(held.ended) for step in (*refused, late))
        yield expect.habit(expect.unless(at_once, "they are refused at once", *refused, late, otherwise="kept-waiting"))
        taken = [seen[f"asked v{version}"], *(step for step in pair if step.error == 0)]
        again = expect.taken(seen, f"again v{version}")
        for step in (*taken, *again, seen[f"end v{version}"]):
            yield expect.accepted(step, otherwise="own-write-refused")
        for part in PARTS:
            alias = f"{part}-v{version}"
            own = [v for step in (*taken, *again) if step.request["partitions"] == [alias] for v in step.written()]
            yield from expect.sound(seen, alias, own, appended="unverified-record-appended", shown="commit-not-shown")


def _other(step: Step, **changes: Any) -> Step:
    """Of the two that waited, the one that was refused."""
    return replace(step, **changes) if step.error == RETRIABLE else step


GOOD = evidence(
    written("asked v9", 9, "a", to="asked-v9"),
    refused_write("waiting v9", 9, RETRIABLE, "b", error_message=WHY, to="one-v9"),
    written("waiting v9", 9, "c", to="other-v9"),
    refused_write("stale v9", 9, STALE, "old", to="stale-v9"),
    written("again v9", 9, "b", to="one-v9"),
    ended("end v9", version=4),
    logs={f"{part}-v9": log(data(7, 1, value), commit(7, 1)) for part, value in zip(PARTS, "abc", strict=False)}
    | {"stale-v9": log()},
    faults=(gate("question v9", "hold", ended=200.0),),
)
_BOTH = replace(GOOD, steps=tuple(_other(step, error=0) for step in GOOD.steps if step.name != "again v9"))
_A_NO = replace(GOOD, steps=tuple(_other(step, error=KafkaError.INVALID_TXN_STATE) for step in GOOD.steps))
_SILENT = replace(GOOD, steps=tuple(_other(step, fields={}) for step in GOOD.steps))

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-16",
    source=Source(890, "Public Interfaces (batching of waiting requests)"),
    statement="A newer verification of a transactional id replaces the one that waits, and an older one is fenced.",
    needs=(Offers("Produce", 9), Offers("InitProducerId", 4)),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-replaced", _BOTH),
        Refusal("wrong-error", _A_NO),
        Refusal("wrong-error", GOOD.with_step("stale v9", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("stale-write-accepted", GOOD.with_step("stale v9", error=0)),
        Refusal("no-message", _SILENT),
        Refusal("kept-waiting", GOOD.with_step("stale v9", answered=300.0)),
        Refusal("own-write-refused", GOOD.with_step("asked v9", error=STALE)),
        Refusal("own-write-refused", GOOD.with_step("again v9", error=STALE)),
        Refusal("own-write-refused", GOOD.with_step("end v9", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, "other-v9", appended="unverified-record-appended", shown="commit-not-shown"),
    ),
    refuted_by=(
        Failpoint(rules=rules.REPLACED_QUESTION_IS_A_NO, anomaly="wrong-error"),
        Failpoint(rules=rules.FENCED_QUESTION_IS_A_YES, anomaly="stale-write-accepted"),
        Failpoint(rules=rules.FENCED_QUESTION_IS_A_YES, anomaly="unverified-record-appended"),
        Liar(api="Produce", instead_of=RETRIABLE, fields={"error_message": None}, anomaly="no-message"),
        Liar(api="Produce", instead_of=RETRIABLE, error=0, anomaly="not-replaced"),
        Failpoint(rules=rules.FENCED_QUESTION_WAITS, anomaly="kept-waiting"),
    ),
)
