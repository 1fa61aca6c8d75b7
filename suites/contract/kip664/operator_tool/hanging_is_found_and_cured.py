"""KIP664-TOOL-11: what hangs on a cluster of the new protocol is found and ended by the tool, and its id works on.

The whole way of an operator: the row that ``find-hanging`` prints gives what ``abort`` needs. The id belongs to an old
client; its coordinator knows of no transaction and is not asked, so its epoch stays, and the id's next transaction goes
on in it on the same partition. All of that is the KIP's promise.
"""

from harness.contract import (
    Access,
    Evidence,
    Feature,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.tool_rules import NOTHING_ABORTED, NOTHING_OVERDUE
from harness.contract.doctored import abort, adopted, log, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import rows, silent
from harness.lab import Lab
from harness.lab.powers.beyond_requests.operator_tool import place
from suites.contract.kip664.hanging_writes import hang, hung, look


def stimulus(lab: Lab) -> None:
    """A late write of an hour ago; find it, abort what was found, and let the id commit its next transaction."""
    txn, partition = lab.producer(), lab.partition("P1")
    hang(lab, txn, partition, minutes=60)
    look(lab, "hangs", partition)
    found = lab.operator("find-hanging", "--topic", partition.topic, as_="search")
    for row in rows(found, TopicPartition="P1"):
        lab.operator("abort", *place(partition), "--start-offset", str(row["StartOffset"]), as_="abort")
    look(lab, "ended", partition)
    txn.add(partition)
    txn.produce(partition, as_="write")
    lab.reached(txn, "Ongoing", as_="kept")
    txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Found, aborted, readers go on, and the next transaction of the same epoch is committed."""
    hung(seen, "P1")
    search, end = seen["search"], seen["end"]
    yield expect.accepted(search, otherwise="search-refused")
    yield expect.agree("found", len(rows(search, TopicPartition="P1")), 1, search, otherwise="hanging-not-found")
    after = seen.sample("P1 ended")
    for step in expect.taken(seen, "abort"):
        yield silent(step, otherwise="abort-refused")
        ended = after.last_stable_offset == after.high_watermark
        yield expect.unless(ended, "nothing is open any more", step, otherwise="still-hanging")
    yield expect.accepted(seen["write"], otherwise="next-transaction-refused")
    yield expect.keeps(seen["kept"], epoch=0, otherwise="epoch-changed")
    yield expect.accepted(end, otherwise="next-transaction-refused")
    yield from expect.sound(seen, committed=seen.log().values()[1:], markers=(("ABORT", 0), ("COMMIT", 0)))


GOOD = adopted(__file__, "KIP664-TOOL-11")
_BATCHES = GOOD.log().batches
_MARKED = log(_BATCHES[0], abort(_BATCHES[0].producer_id, 1), *_BATCHES[2:])

REQUIREMENT = Requirement(
    id="KIP664-TOOL-11",
    source=Source(664, "Recovery"),
    statement="On a cluster of the new protocol find-hanging and abort cure what an old client left hanging.",
    needs=(Feature("transaction.version", 2), Offers("DescribeProducers", 0)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("search-refused", GOOD.with_step("search", error=1)),
        Refusal("hanging-not-found", GOOD.with_step("search", rows=[]).without_step("abort")),
        Refusal("abort-refused", GOOD.with_step("abort", error=1)),
        Refusal("still-hanging", GOOD.with_sample("P1 ended", last_stable_offset=0)),
        *(Refusal("next-transaction-refused", GOOD.with_step(name, error=48)) for name in ("write", "end")),
        Refusal("epoch-changed", GOOD.with_step("kept", producer_epoch=1)),
        Refusal("wrong-markers", GOOD.with_log(truth=_MARKED, committed=GOOD.log().committed)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=NOTHING_OVERDUE, anomaly="hanging-not-found"),
        Failpoint(rules=NOTHING_ABORTED, anomaly="still-hanging"),
    ),
)
