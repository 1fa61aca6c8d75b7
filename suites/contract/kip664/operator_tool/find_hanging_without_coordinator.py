"""KIP664-TOOL-08: an open transaction of a producer id that no coordinator knows hangs.

So it is left when an id has expired, or was begun anew, since the late write. The write has the producer id of an
idempotent producer, of which no coordinator ever heard. Beside it an old transaction is open whose coordinator knows
it. That the first is found and the second is not is the KIP's promise.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import COORDINATORS_NOT_ASKED, ONLY_KNOWN_IDS_HANG, SEARCH_FAILS
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import rows
from harness.lab import Lab
from suites.contract.kip664.hanging_writes import WRITE, hang, hung, look


def stimulus(lab: Lab) -> None:
    """A write with an id of nobody's and one of an open transaction, both an hour old; a search for each."""
    partition, live, stranger = lab.partition("P1"), lab.producer("rival"), lab.producer()
    other = lab.partition("P2", leader=partition.leader)
    nobody = lab.idempotent()
    stranger.become(nobody.producer_id, nobody.epoch)
    hang(lab, stranger, partition, minutes=60)
    live.add(other)
    live.produce(other, timestamp_ms=lab.minutes_ago(60), as_="live write")
    running = [lab.start_operator("find-hanging", "--topic", each.topic) for each in (partition, other)]
    for each, command in zip((partition, other), running, strict=True):
        command.answer(as_=f"search {each.alias}")
    look(lab, "hangs", partition, other)
    lab.write_marker(partition, producer_id=nobody.producer_id, epoch=nobody.epoch, commit=False)
    live.end(commit=True)


def check(seen: Evidence) -> Observations:
    """The stranger's is found, the live one is not."""
    hung(seen, "P1", "P2")
    own = str(seen[WRITE].request_int("producer_id"))
    for alias, promised, anomaly in (("P1", [own], "hanging-not-found"), ("P2", [], "live-transaction-found")):
        step = seen[f"search {alias}"]
        yield expect.accepted(step, otherwise="search-refused")
        found = [row["ProducerId"] for row in rows(step, TopicPartition=alias)]
        yield expect.agree(f"what hangs on {alias}", found, promised, step, otherwise=anomaly)
    yield from expect.sound(seen, "P1", committed=())
    yield from expect.sound(seen, "P2")


GOOD = adopted(__file__, "KIP664-TOOL-08")

REQUIREMENT = Requirement(
    id="KIP664-TOOL-08",
    source=Source(664, "Finding Hanging Transactions"),
    statement="kafka-transactions.sh find-hanging shows an open transaction of a producer id that nobody coordinates.",
    needs=(Offers("DescribeProducers", 0),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("search-refused", GOOD.with_step(f"search {alias}", error=1)) for alias in ("P1", "P2")),
        Refusal("hanging-not-found", GOOD.with_step("search P1", rows=[])),
        Refusal("hanging-not-found", GOOD.with_step("search P1", rows=[{"TopicPartition": "P1", "ProducerId": "1"}])),
        Refusal(
            "live-transaction-found",
            GOOD.with_step("search P2", rows=[{"TopicPartition": "P2", "ProducerId": "1"}]),
        ),
        *unsound(GOOD, appended=None),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ONLY_KNOWN_IDS_HANG, anomaly="hanging-not-found"),
        Failpoint(rules=COORDINATORS_NOT_ASKED, anomaly="live-transaction-found"),
        Failpoint(rules=SEARCH_FAILS, anomaly="search-refused"),
    ),
)
