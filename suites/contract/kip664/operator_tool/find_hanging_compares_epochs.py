"""KIP664-TOOL-07: an open transaction in another epoch than its coordinator's hangs, whatever the coordinator has open.

The KIP's examples of what hangs are that "the epoch does not match or the partition is not included in the current
transaction". A late write in epoch 0 hangs; its id goes on in epoch 1 and adds the same partition, without writing yet.
Its end would end what hangs with it, and commit it: that is what an operator has to be told before. On a second
partition, which is not in the new transaction, the same is found by the other reason.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import NOTHING_OVERDUE
from harness.contract.doctored import abort, data, evidence, log, sample, step, unsound, written
from harness.contract.refuters import Failpoint, Release
from harness.contract.tools.tool_words import ran, rows
from harness.evidence.requirement_evidence import NotSeen, Step
from harness.lab import Lab
from suites.contract.kip664.hanging_writes import WRITE, hang, hung, look


def stimulus(lab: Lab) -> None:
    """Late writes to two partitions; then the id's next epoch adds the first of them, and a search for each."""
    txn = lab.producer()
    first = lab.partition("P1")
    partitions = (first, lab.partition("P2", leader=first.leader))
    hang(lab, txn, *partitions, minutes=60)
    old = txn.epoch
    txn.init()
    txn.add(first, as_="add")
    running = [lab.start_operator("find-hanging", "--topic", partition.topic) for partition in partitions]
    for partition, command in zip(partitions, running, strict=True):
        command.answer(as_=f"search {partition.alias}")
    look(lab, "hangs", *partitions)
    for partition in partitions:
        lab.write_marker(partition, producer_id=txn.producer_id, epoch=old, commit=False)
    txn.end(commit=False)


def check(seen: Evidence) -> Observations:
    """Both are found, whether the new transaction has the partition or not."""
    hung(seen, "P1", "P2")
    if seen["add"].error != 0:
        raise NotSeen("the id's next transaction does not have the partition")
    for alias, anomaly in (("P1", "old-epoch-not-found"), ("P2", "hanging-not-found")):
        step = seen[f"search {alias}"]
        yield expect.accepted(step, otherwise="search-refused")
        epochs = [row["ProducerEpoch"] for row in rows(step, TopicPartition=alias)]
        yield expect.agree(f"epochs that hang on {alias}", epochs, ["0"], step, otherwise=anomaly)
        yield from expect.sound(seen, alias, committed=())


def _search(alias: str, epoch: str) -> Step:
    return ran(f"search {alias}", rows=({"TopicPartition": alias, "ProducerEpoch": epoch},))


GOOD = evidence(
    written(WRITE, 9, "a"),
    written(WRITE, 9, "b", to="P2"),
    step("add", "AddPartitionsToTxn", 3),
    _search("P1", "0"),
    _search("P2", "0"),
    samples=(sample("P1 hangs", "P1", 1, 0), sample("P2 hangs", "P2", 1, 0)),
    logs={"P1": log(data(7, 0, "a"), abort(7, 0)), "P2": log(data(7, 0, "b"), abort(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP664-TOOL-07",
    source=Source(664, "Finding Hanging Transactions"),
    statement="kafka-transactions.sh find-hanging shows an open transaction in another epoch than its coordinator's.",
    needs=(Offers("DescribeProducers", 0),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("search-refused", GOOD.with_step("search P1", error=1)),
        Refusal("old-epoch-not-found", GOOD.with_step("search P1", rows=[])),
        Refusal("old-epoch-not-found", GOOD.with_step("search P1", fields=_search("P1", "1").fields)),
        Refusal("hanging-not-found", GOOD.with_step("search P2", rows=[])),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="old-epoch-not-found"),
        Failpoint(rules=NOTHING_OVERDUE, anomaly="hanging-not-found"),
    ),
)
