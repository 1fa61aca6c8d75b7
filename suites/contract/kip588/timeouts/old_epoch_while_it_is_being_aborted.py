"""KIP588-ERR-04: while the coordinator aborts a transaction that timed out, its producer is told to wait, or is fenced.

The abort's marker to one partition lies at the gate, another partition has its marker already. Whatever the producer
sends now in its old epoch, old client or new, must be refused, and by an error after which it tries again or knows that
it is fenced; both lead it to the recovery that KIP-588 describes, anything else would be fatal or lost. Which of the
two it is at each request is Kafka's: CONCURRENT_TRANSACTIONS where it looks at the pending state first, and
INVALID_PRODUCER_EPOCH or PRODUCER_FENCED where it compares epochs first, which AddPartitionsToTxn does up to 3.9.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman import leader_rules as rules
from harness.contract.doctored import abort, data, evidence, gate, log, refused_write, sample, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

TIMEOUT_MS = 1_500
CONCURRENT, STALE = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.INVALID_PRODUCER_EPOCH
ALLOWED = (STALE, KafkaError.PRODUCER_FENCED, *(error for error in KafkaError if error.retriable))
NO_DEFENCE = (
    rules.KNOWN_PRODUCER_NOT_ASKED_ABOUT + rules.EVERY_TRANSACTION_ONGOING_AT_THE_APPEND + rules.NO_CHECK_OF_DATA
)
CLIENTS = ("old", "new")


def stimulus(lab: Lab) -> None:
    """Each client leaves a transaction alone past its timeout, and goes on while the abort's marker to P1 is held."""
    for client in CLIENTS if lab.offered("EndTxn", (5,)) else CLIENTS[:1]:
        _overdue(lab, client)


def _overdue(lab: Lab, client: str) -> None:
    txn = lab.producer(protocol=1 if client == "old" else 2, timeout_ms=TIMEOUT_MS)
    held = lab.partition(f"held-{client}", leader=lab.another_broker(txn.coordinator))
    marked, fresh = (lab.partition(f"{name}-{client}", leader=txn.coordinator) for name in ("marked", "fresh"))
    with lab.gate(
        lab.link(txn.coordinator, held.leader), api="WriteTxnMarkers", action="hold", name=f"abort {client}"
    ) as gated:
        for partition in (held, marked):
            if client == "old":
                txn.add(partition)
            txn.produce(partition, as_=f"write {client}")
        gated.wait()
        lab.passed(marked, 1)
        lab.sample(f"marked {client}", marked)
        if client == "old":
            txn.add(fresh, retry=(), as_=f"add {client}")
        txn.produce(marked, sequence=1, retry=(), as_=f"marked {client}")
        txn.produce(fresh, retry=(), as_=f"fresh {client}")
        txn.end(commit=False, retry=(), as_=f"end {client}")
        lab.sample(f"held {client}", held)


def check(seen: Evidence) -> Observations:
    """Every request of the old epoch is refused as one to repeat or as fenced, and nothing of it is in a log."""
    for client in (name for name in CLIENTS if expect.taken(seen, f"write {name}")):
        expect.gated(seen, f"abort {client}")
        first, second = seen.all(f"write {client}")
        if first.error or second.error or seen.sample(f"held {client}").last_stable_offset > 0:
            raise NotSeen("the transaction was not open past its timeout, or its marker was not held")
        asked = [step for name in ("add", "marked", "fresh", "end") for step in expect.taken(seen, f"{name} {client}")]
        for one in asked:
            yield expect.refused(one, *_by_kafka(one), also=ALLOWED, otherwise="old-epoch-accepted")
        yield expect.stable(seen.sample(f"marked {client}"), otherwise="marker-not-written")
        for alias, write in ((f"held-{client}", first), (f"marked-{client}", second)):
            yield from expect.sound(seen, alias, write.written(), committed=(), appended="old-record-appended")
        yield from expect.sound(seen, f"fresh-{client}", (), appended="old-record-appended")


def _by_kafka(asked: Step) -> tuple[KafkaError, ...]:
    """What Kafka answers there."""
    if asked.api == "Produce":
        adds = asked.version >= 12 and asked.name.startswith("fresh")
        return (CONCURRENT,) if adds else (STALE,)
    if asked.api == "EndTxn":
        return (CONCURRENT,) if asked.version >= 5 else (fenced("EndTxn", asked.version),)
    return CONCURRENT, fenced(asked.api, asked.version)


def refused(client: str) -> Evidence:
    """The old epoch's requests refused as Kafka does; sound logs."""
    new = client == "new"
    produced, held, marked, fresh = (12 if new else 11), f"held-{client}", f"marked-{client}", f"fresh-{client}"
    add = step("add old", "AddPartitionsToTxn", 3, error=CONCURRENT)
    return evidence(
        written(f"write {client}", produced, "a", to=held),
        written(f"write {client}", produced, "b", to=marked),
        *(() if new else (add,)),
        refused_write(f"marked {client}", produced, STALE, "late", to=marked),
        refused_write(f"fresh {client}", produced, CONCURRENT if new else STALE, "late", to=fresh),
        step(f"end {client}", "EndTxn", 5 if new else 4, error=CONCURRENT if new else KafkaError.PRODUCER_FENCED),
        logs={held: log(data(7, 0, "a"), abort(7, 1)), marked: log(data(7, 0, "b"), abort(7, 1)), fresh: log()},
        faults=(gate(f"abort {client}", "hold"),),
        samples=(sample(f"marked {client}", marked, 2, 2), sample(f"held {client}", held, 1, 0)),
    )


OLD, NEW = map(refused, CLIENTS)

REQUIREMENT = Requirement(
    id="KIP588-ERR-04",
    source=Source(588, "Proposed Changes: the coordinator times a transaction out"),
    statement="While an overdue transaction is being aborted, its producer's requests are retriable or fenced.",
    needs=(Offers("InitProducerId", 0), Offers("EndTxn", 2)),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(OLD, NEW),
    refuses=(
        *(Refusal("old-epoch-accepted", OLD.with_step(f"{name} old", error=0)) for name in ("add", "marked", "end")),
        *(Refusal("old-epoch-accepted", NEW.with_step(f"{name} new", error=0)) for name in ("fresh", "end")),
        Refusal("wrong-error", OLD.with_step("add old", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-error", NEW.with_step("fresh new", error=STALE)),
        Refusal("unanswered", NEW.with_step("end new", error=None)),
        Refusal("marker-not-written", NEW.with_sample("marked new", last_stable_offset=0)),
        *unsound(NEW, "held-new", appended="old-record-appended"),
        *unsound(NEW, "fresh-new", appended="old-record-appended"),
    ),
    refuted_by=(
        Failpoint(rules=NO_DEFENCE, anomaly="old-record-appended"),
        Failpoint(rules=NO_DEFENCE, anomaly="old-epoch-accepted"),
        Liar(
            api="AddPartitionsToTxn", instead_of=CONCURRENT, error=KafkaError.INVALID_TXN_STATE, anomaly="wrong-error"
        ),
    ),
)
