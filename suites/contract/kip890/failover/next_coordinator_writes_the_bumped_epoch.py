"""KIP890-BUMP-13: once an end is prepared, whoever coordinates the id next writes the markers, in the bumped epoch.

One partition has its marker; the other's is held on its link, and the id moves to another coordinator. That one finds
the prepared end in the log and writes both markers: the first partition gets its own again, which must neither be
refused for ever (KAFKA-19999) nor end anything more. The next transaction is open when the held marker comes at last:
it is of an older coordinator epoch, so it must end nothing. That later coordinators write the bumped epoch is the
KIP's, which has it in the log with the prepared end; names of states are Kafka's.
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
    TransactionResult,
    expect,
)
from harness.contract.byteman.coordinator_rules import MARKERS_IN_ANOTHER_EPOCH
from harness.contract.byteman.leader_rules import NO_COORDINATOR_EPOCH_CHECK, NO_EPOCH_CHECK
from harness.contract.doctored import commit, data, described, ended, evidence, log, marker, sample, unsound, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab

STEPS = ("write", "marked write", "end", "next write", "next end")


def stimulus(lab: Lab) -> None:
    """Ended while the marker is held, completed by another coordinator; the held one comes into a new transaction."""
    for result in TransactionResult:
        name, txn = result.noun, lab.producer(protocol=2)
        partition = lab.partition(name, leader=lab.another_broker(txn.coordinator))
        marked = lab.partition(f"marked-{name}", leader=txn.coordinator)
        third = lab.another_broker(txn.coordinator, partition.leader)
        txn.produce(partition, as_="write")
        txn.produce(marked, as_="marked write")
        with lab.hold(lab.link(txn.coordinator, partition.leader), name=f"marker of {name}"):
            txn.end(commit=result.commits, as_="end")
            lab.completed(marked)
            lab.sample(f"prepared {name}", partition)
            with lab.moves.coordinator(txn, to=third, name=f"move of {name}"):
                lab.reached(txn, result.completed, as_=f"completed {name}")
                lab.sample(f"completed {name}", partition)
            txn.produce(partition, as_="next write")
        lab.sample(f"released {name}", partition)
        txn.end(commit=True, as_="next end")


def check(seen: Evidence) -> Observations:
    """Each end's marker has the bumped epoch, the other coordinator wrote it, and the held one ended nothing."""
    steps = (seen.all(name) for name in STEPS)
    for result, write, beside, end, after, last in zip(TransactionResult, *steps, strict=True):
        name = result.noun
        seen.fault(f"move of {name}")
        prepared = seen.sample(f"prepared {name}")
        if end.error == 0 and prepared.last_stable_offset >= prepared.high_watermark:
            raise NotSeen(f"the marker of {name} was not held")
        for asked in (write, beside, end, after, last):
            yield expect.accepted(asked, otherwise="transaction-refused")
        yield expect.stable(seen.sample(f"completed {name}"), end, otherwise="never-completed")
        yield expect.over(seen[f"completed {name}"], otherwise="never-completed")
        yield expect.keeps(seen[f"completed {name}"], epoch=1, otherwise="wrong-epoch-kept")
        yield expect.unstable(seen.sample(f"released {name}"), after, otherwise="old-marker-ended-it")
        shown = [*(write.written() if result.commits else ()), *after.written()]
        values = [*write.written(), *after.written()]
        yield from expect.sound(seen, name, values, committed=shown, markers=((result.marker, 1), ("COMMIT", 2)))
        own = f"marked-{name}"
        yield from expect.sound(seen, own, beside.written(), committed=beside.written() if result.commits else ())
        kinds = set(seen.log(own).marks())
        yield expect.agree(
            f"markers of {own}, each once or more", kinds, {(result.marker, 1)}, otherwise="wrong-markers"
        )


GOOD = evidence(
    *(written("write", 12, "a") for _ in TransactionResult),
    *(written("marked write", 12, "c") for _ in TransactionResult),
    *(ended("end", committed=result.commits) for result in TransactionResult),
    *(described(f"completed {result.noun}", result.completed, epoch=1) for result in TransactionResult),
    *(written("next write", 12, "b") for _ in TransactionResult),
    *(ended("next end", epoch=1) for _ in TransactionResult),
    faults=tuple(Fault(name=f"move of {r.noun}", kind="move", where="", started=0, ended=1) for r in TransactionResult),
    samples=tuple(
        sample(f"{when} {result.noun}", result.noun, high, stable)
        for result in TransactionResult
        for when, high, stable in (("prepared", 1, 0), ("completed", 2, 2), ("released", 3, 2))
    ),
    logs={r.noun: log(data(7, 0, "a"), marker(r, 1), data(7, 1, "b"), commit(7, 2)) for r in TransactionResult}
    | {f"marked-{r.noun}": log(data(7, 0, "c"), marker(r, 1), marker(r, 1)) for r in TransactionResult},
)
_OLD_EPOCH = log(data(7, 0, "a"), commit(7, 0), data(7, 1, "b"), commit(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-BUMP-13",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="The markers of a prepared end carry the bumped epoch, whichever coordinator writes them.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.LINKS, Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(
            Refusal("transaction-refused", GOOD.with_step(name, error=KafkaError.INVALID_PRODUCER_EPOCH))
            for name in STEPS
        ),
        Refusal("never-completed", GOOD.with_sample("completed abort", last_stable_offset=0)),
        Refusal("never-completed", GOOD.with_step("completed commit", state="PrepareCommit")),
        Refusal("wrong-epoch-kept", GOOD.with_step("completed abort", producer_epoch=0)),
        Refusal("old-marker-ended-it", GOOD.with_sample("released commit", last_stable_offset=3)),
        Refusal("wrong-markers", GOOD.with_log("commit", _OLD_EPOCH)),
        Refusal("wrong-markers", GOOD.with_log("marked-commit", log(data(7, 0, "c"), commit(7, 1), commit(7, 0)))),
        *unsound(GOOD, "commit"),
        *unsound(GOOD, "marked-abort"),
    ),
    refuted_by=(
        Failpoint(rules=MARKERS_IN_ANOTHER_EPOCH, anomaly="wrong-markers"),
        Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK + NO_EPOCH_CHECK, anomaly="wrong-markers"),
        Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK + NO_EPOCH_CHECK, anomaly="old-marker-ended-it"),
    ),
)
