"""KIP664-TOOL-05: ``find-hanging`` shows the transaction that hangs, and none that its coordinator will still end.

All four are an hour old by their records' timestamps: one hangs, one is open, one is prepared while its marker is held,
and one was ended. The tool looks at the partitions that a broker has a replica of, or at one topic's. An age that none
has reached yet leaves the table empty. The KIP promises what is found; its headings, and minutes, are Kafka's.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import (
    COORDINATORS_NOT_ASKED,
    EVERYTHING_OVERDUE,
    NOTHING_OVERDUE,
    WRONG_AGE_FOUND,
    WRONG_OFFSET_FOUND,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import rows
from harness.lab import Lab
from suites.contract.kip664.hanging_writes import WRITE, hang, hung, look

MINUTES = 60
LIMIT = "--max-transaction-timeout"
CELLS = {"ProducerId": "producer_id", "ProducerEpoch": "producer_epoch", "LastTimestamp": "timestamp_ms"}
SEARCHES = ("by topic", "by broker", "by default")


def stimulus(lab: Lab) -> None:
    """The four transactions on partitions of one leader, the third on a held link; then four searches side by side."""
    txn, coordinated = lab.producer(), lab.producer("rival")
    slow = lab.partition("P3", leader=lab.another_broker(coordinated.coordinator))
    lab.link(coordinated.coordinator, slow.leader)  # where there is none, nothing need be opened
    hanging, open_one = (lab.partition(alias, leader=slow.leader) for alias in ("P1", "P2"))
    others = {at: lab.producer("rival", coordinator=coordinated.coordinator) for at in (open_one, hanging)}
    for partition, other in ((slow, coordinated), *others.items()):
        other.add(partition)
        other.produce(partition, timestamp_ms=lab.minutes_ago(MINUTES), as_="live write")
    others[hanging].end(commit=True)
    lab.completed(hanging)
    hang(lab, txn, hanging, minutes=MINUTES)
    with lab.preparing(coordinated, slow, commit=True, name="prepared"):
        _search(lab, hanging.topic, slow.leader)
        look(lab, "hangs", hanging, open_one)
    others[open_one].end(commit=True)
    lab.write_marker(hanging, producer_id=txn.producer_id, epoch=txn.epoch, commit=False)


def _search(lab: Lab, topic: str, broker: int) -> None:
    asked: dict[str, tuple[str | int, ...]] = {
        "by topic": ("--topic", topic, LIMIT, MINUTES // 2),
        "by broker": ("--broker-id", broker, LIMIT, MINUTES // 2),
        "by default": ("--broker-id", broker),
        "too young": ("--topic", topic, LIMIT, MINUTES * 2),
    }
    running = {name: lab.start_operator("find-hanging", *arguments) for name, arguments in asked.items()}
    for name, command in running.items():
        command.answer(as_=name)


def check(seen: Evidence) -> Observations:
    """One row, and it is right; nothing where nothing is old enough."""
    expect.prepared(seen, "prepared", end=seen["end"])
    hung(seen, "P1", "P2")
    write, start = seen[WRITE], seen.sample("P1 hangs").last_stable_offset
    promised = {heading: str(write.request[field]) for heading, field in CELLS.items()}
    for name in SEARCHES:
        step = seen[name]
        yield expect.accepted(step, otherwise="search-refused")
        found = rows(step, TopicPartition="P1")
        yield expect.agree("hanging ones", len(found), 1, step, otherwise="hanging-not-found")
        for row in found:
            cells = {heading: row.get(heading) for heading in CELLS}
            yield expect.agree("its row", cells, promised, step, otherwise="wrong-row")
            yield expect.agree("its start", row.get("StartOffset"), str(start), step, otherwise="wrong-start-offset")
            minutes = str(row.get("Duration(min)"))
            yield expect.habit(
                expect.unless(minutes in ("60", "61", "62"), "its age is an hour", step, otherwise="wrong-age")
            )
        live = [row for alias in ("P2", "P3") for row in rows(step, TopicPartition=alias)]
        yield expect.agree("live ones", live, [], step, otherwise="live-transaction-found")
    young = seen["too young"]
    yield expect.accepted(young, otherwise="search-refused")
    yield expect.agree("young ones", list(rows(young)), [], young, otherwise="young-transaction-found")
    for alias in ("P2", "P3"):
        yield from expect.sound(seen, alias)
    yield from expect.sound(seen, "P1", committed=seen.log("P1").values()[:1])


GOOD = adopted(__file__, "KIP664-TOOL-05")


def _with(name: str, **cells: str) -> Evidence:
    return GOOD.with_step(name, rows=[{**rows(GOOD[name])[0], **cells}])


REQUIREMENT = Requirement(
    id="KIP664-TOOL-05",
    source=Source(664, "Finding Hanging Transactions"),
    statement="kafka-transactions.sh find-hanging shows a hanging transaction and no live one.",
    needs=(Offers("DescribeProducers", 0),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.CHANGES, Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("search-refused", GOOD.with_step(name, error=1)) for name in (*SEARCHES, "too young")),
        *(Refusal("hanging-not-found", GOOD.with_step(name, rows=[])) for name in SEARCHES),
        Refusal("hanging-not-found", GOOD.with_step("by topic", rows=[*rows(GOOD["by topic"])] * 2)),
        *(Refusal("wrong-row", _with("by broker", **{heading: "4711"})) for heading in CELLS),
        Refusal("wrong-start-offset", _with("by default", StartOffset="0")),
        Refusal("wrong-age", _with("by topic", **{"Duration(min)": "3600"})),
        *(
            Refusal(
                "live-transaction-found",
                GOOD.with_step("by broker", rows=[*rows(GOOD["by broker"]), {"TopicPartition": alias}]),
            )
            for alias in ("P2", "P3")
        ),
        Refusal("young-transaction-found", GOOD.with_step("too young", rows=[*rows(GOOD["by topic"])])),
        *unsound(GOOD, "P3", appended=None),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=NOTHING_OVERDUE, anomaly="hanging-not-found"),
        Failpoint(rules=COORDINATORS_NOT_ASKED, anomaly="live-transaction-found"),
        Failpoint(rules=EVERYTHING_OVERDUE, anomaly="young-transaction-found"),
        Failpoint(rules=WRONG_OFFSET_FOUND, anomaly="wrong-start-offset"),
        Failpoint(rules=WRONG_AGE_FOUND, anomaly="wrong-age"),
    ),
)
