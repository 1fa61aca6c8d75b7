"""KIP664-WTM-11: ``abort`` with producer id, epoch and coordinator epoch works without DescribeProducers.

The KIP wants what hangs on brokers that cannot describe producers (2.4 to 2.7) to be ended all the same. Those releases
cannot be had here, so what the tool asks for is counted where it can be: by the arguments alone it sends the leader one
marker and no question; by a start offset it has to look. What is counted is Kafka's; that the first way works without
a look is the KIP's.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import ABORT_LOOKS_FIRST, MARKER_SENT_TWICE, NOTHING_ABORTED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import silent
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab
from harness.lab.powers.beyond_requests.metrics import requests
from harness.lab.powers.beyond_requests.operator_tool import place
from suites.contract.kip664.hanging_writes import hang, hung, look

LOOKS = requests("DescribeProducers", 0)
MARKERS = tuple(requests("WriteTxnMarkers", version) for version in range(3))


def stimulus(lab: Lab) -> None:
    """Two partitions of one leader hang; one is aborted by identity, the other by its start offset."""
    txn, first = lab.producer(), lab.partition("P1")
    second = lab.partition("P2", leader=first.leader)
    hang(lab, txn, first, second)
    look(lab, "hangs", first, second)
    identity = ("--producer-id", txn.producer_id, "--producer-epoch", txn.epoch, "--coordinator-epoch", 0)
    for name, partition, arguments in (("identity", first, identity), ("offset", second, ("--start-offset", 0))):
        looks = lab.metrics.counted(f"looks by {name}", LOOKS, nodes=(first.leader,))
        with looks, lab.metrics.counted(f"markers by {name}", *MARKERS, nodes=(first.leader,), least=1):
            lab.operator("abort", *place(partition), *arguments, as_=f"abort by {name}")
        look(lab, "ended", partition)


def check(seen: Evidence) -> Observations:
    """No look and one marker by identity; the other way looks, so that looks are seen to count."""
    hung(seen, "P1", "P2")
    if not seen.fact("looks by offset"):
        raise NotSeen("looks are not counted")
    for alias, name in (("P1", "identity"), ("P2", "offset")):
        abort, after = seen[f"abort by {name}"], seen.sample(f"{alias} ended")
        yield silent(abort, otherwise="abort-refused")
        ended = after.last_stable_offset == after.high_watermark
        yield expect.unless(ended, f"nothing is open on {alias}", abort, otherwise="still-hanging")
        yield from expect.sound(seen, alias, committed=())
    own = seen["abort by identity"]
    looked = seen.fact("looks by identity")
    yield expect.unless(looked in (None, 0), f"{looked} looks", own, otherwise="producers-described")
    markers = expect.agree("markers", seen.fact("markers by identity"), 1, own, otherwise="wrong-request-count")
    yield expect.habit(markers)


GOOD = adopted(__file__, "KIP664-WTM-11")

REQUIREMENT = Requirement(
    id="KIP664-WTM-11",
    source=Source(664, "Compatibility, Deprecation, and Migration Plan"),
    statement="abort by producer id, epoch and coordinator epoch asks a leader nothing but to write the marker.",
    needs=(Offers("WriteTxnMarkers", 1),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.METRICS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("abort-refused", GOOD.with_step(f"abort by {name}", error=1)) for name in ("identity", "offset")),
        Refusal("still-hanging", GOOD.with_sample("P1 ended", last_stable_offset=0)),
        Refusal("producers-described", GOOD.with_fact("looks by identity", 1)),
        Refusal("wrong-request-count", GOOD.with_fact("markers by identity", 2)),
        *unsound(GOOD, appended=None),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=NOTHING_ABORTED, anomaly="still-hanging"),
        Failpoint(rules=ABORT_LOOKS_FIRST, anomaly="producers-described"),
        Failpoint(rules=MARKER_SENT_TWICE, anomaly="wrong-request-count"),
    ),
)
