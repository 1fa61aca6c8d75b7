"""KIP664-TOOL-04: ``describe-producers`` shows what a partition's leader, or any one replica, keeps of producers.

Compared with what the leader itself answers (DescribeProducers), for a producer with an open transaction and one whose
transaction is over; the same of the follower, which had the records before they were acknowledged. A broker without a
replica is an error. The KIP promises the command, a replica as its option, and what it shows; headings, ``None`` for no
open transaction and the error's words are Kafka's.
"""

from harness.contract import Access, Evidence, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import (
    ERRORS_END_WELL,
    NO_OPEN_OFFSET_DESCRIBED,
    WRONG_PRODUCER_DESCRIBED,
    WRONG_SEQUENCE_DESCRIBED,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import complains, rows
from harness.lab import Lab
from harness.lab.powers.beyond_requests.operator_tool import place

CELLS = {
    "ProducerEpoch": "producer_epoch",
    "LatestCoordinatorEpoch": "coordinator_epoch",
    "LastSequence": "last_sequence",
    "LastTimestamp": "last_timestamp",
}


def stimulus(lab: Lab) -> None:
    """A producer that is done and one with an open transaction; the leader, the follower and a stranger are asked."""
    alone = lab.partition("P2")
    other = lab.another_broker(alone.leader)
    partition = lab.partition("P1", leader=alone.leader, replicas=len(lab.cluster.topology.brokers))
    txn, done = lab.producer(), lab.producer("rival")
    done.write(partition)
    done.end(commit=True)
    lab.completed(partition)
    txn.write(partition)
    txn.write(partition)
    asked = {"leader": place(partition), "follower": (*place(partition), "--broker-id", str(other))}
    asked["stranger"] = (*place(alone), "--broker-id", str(other))
    running = {name: lab.start_operator("describe-producers", *arguments) for name, arguments in asked.items()}
    for name, command in running.items():
        command.answer(as_=name)
    lab.observer.producers(partition, as_="kept")
    txn.end(commit=False)


def check(seen: Evidence) -> Observations:
    """The same rows as the leader's own answer, everywhere; no rows of a broker that has none."""
    kept = seen["kept"].fields["producers"]
    states = [state for state in (kept if isinstance(kept, list) else ()) if isinstance(state, dict)]
    for name in ("leader", "follower"):
        told = seen[name]
        yield expect.accepted(told, otherwise="describe-refused")
        ids = sorted(str(row["ProducerId"]) for row in rows(told))
        known = sorted(str(state["producer_id"]) for state in states)
        yield expect.agree("producers", ids, known, told, otherwise="wrong-producers")
        for state in states:
            own = rows(told, ProducerId=str(state["producer_id"]))
            cells = [{heading: row.get(heading) for heading in CELLS} for row in own]
            promised = [{heading: str(state[field]) for heading, field in CELLS.items()}]
            yield expect.agree(f"row of {state['producer_id']}", cells, promised, told, otherwise="wrong-row")
            start = str(state["current_txn_start_offset"]).replace("-1", "None")
            offsets = [row.get("CurrentTransactionStartOffset") for row in own]
            yield expect.agree("start offset", offsets, [start], told, otherwise="wrong-start-offset")
    yield complains(seen["stranger"], "Failed to describe producers", otherwise="stranger-described")
    yield from expect.sound(seen, committed=seen.log().values()[:1])


GOOD = adopted(__file__, "KIP664-TOOL-04")


def _with(name: str, **cells: str) -> Evidence:
    first, *rest = rows(GOOD[name])
    return GOOD.with_step(name, rows=[{**first, **cells}, *rest])


REQUIREMENT = Requirement(
    id="KIP664-TOOL-04",
    source=Source(664, "Describing Producers"),
    statement="kafka-transactions.sh describe-producers shows what a partition's leader or a chosen replica keeps.",
    needs=(Offers("DescribeProducers", 0),),
    access=(Access.TOOL, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("describe-refused", GOOD.with_step("follower", error=1)),
        Refusal("wrong-producers", GOOD.with_step("leader", rows=[*rows(GOOD["leader"]), {"ProducerId": "4711"}])),
        *(Refusal("wrong-row", _with("follower", **{heading: "4711"})) for heading in CELLS),
        Refusal("wrong-start-offset", _with("leader", CurrentTransactionStartOffset="-1")),
        Refusal("stranger-described", GOOD.with_step("stranger", error=0)),
        Refusal("wrong-message", GOOD.with_step("stranger", stderr="")),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=WRONG_SEQUENCE_DESCRIBED, anomaly="wrong-row"),
        Failpoint(rules=NO_OPEN_OFFSET_DESCRIBED, anomaly="wrong-start-offset"),
        Failpoint(rules=ERRORS_END_WELL, anomaly="stranger-described"),
        Failpoint(rules=WRONG_PRODUCER_DESCRIBED, anomaly="wrong-producers"),
    ),
)
