"""KIP664-TOOL-06: ``find-hanging`` searches a broker, a topic or a partition, and internal topics as well.

The KIP's search is of one broker, all of its partitions, and may be limited to a topic or a partition. Its required age
became optional, and its broker too where a topic is given: those, and that a search without any scope is refused, are
Kafka's. What hangs on a group's offsets shows that internal topics are searched.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import ERRORS_END_WELL, INTERNAL_TOPICS_LEFT_OUT, PARTITION_FORGOTTEN
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tool_words import complains, rows
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab
from harness.lab.powers.beyond_requests.operator_tool import place
from suites.contract.kip664.hanging_writes import hang, hung, look

YOUNG = ("--max-transaction-timeout", 0)
WRONG = {"no scope": "requires either --topic", "no topic": "requires --topic to be provided"}
FOUND = {"broker": ["P1", "offsets"], "topic": ["P1"], "partition": ["P1"], "other partition": []}


def stimulus(lab: Lab) -> None:
    """One transaction hangs on a group's offsets and another on a partition of the same leader; six searches."""
    txn, group, other = lab.producer(), lab.group(), lab.producer("rival")
    partition = lab.partition("P1", leader=group.offsets.leader)
    with lab.admin.unverified():
        txn.commit_offset(group, partition, 1, version=2, as_="hanging offset")
    hang(lab, other, partition)
    asked: dict[str, tuple[str | int, ...]] = {
        "no scope": YOUNG,
        "no topic": ("--broker-id", partition.leader, "--partition", 0, *YOUNG),
        "broker": ("--broker-id", partition.leader, *YOUNG),
        "topic": ("--topic", partition.topic, *YOUNG),
        "partition": (*place(partition), *YOUNG),
        "other partition": ("--topic", partition.topic, "--partition", (partition.index + 1) % 3, *YOUNG),
    }
    running = {name: lab.start_operator("find-hanging", *arguments) for name, arguments in asked.items()}
    for name, command in running.items():
        command.answer(as_=name)
    look(lab, "hangs", partition, group.offsets)
    for place_, who in ((partition, other), (group.offsets, txn)):
        lab.write_marker(place_, producer_id=who.producer_id, epoch=who.epoch, commit=False)


def check(seen: Evidence) -> Observations:
    """Each scope finds what hangs in it, and no scope is an error."""
    if seen["hanging offset"].error != 0:
        raise NotSeen("no offset could be made to hang")
    hung(seen, "P1", "offsets")
    for name, found in FOUND.items():
        step = seen[name]
        yield expect.accepted(step, otherwise="search-refused")
        shown = [alias for alias in ("P1", "offsets") if rows(step, TopicPartition=alias)]
        yield expect.agree(f"{name} finds", shown, found, step, otherwise="wrong-scope")
    for name, words in WRONG.items():
        yield expect.habit(complains(seen[name], words, otherwise="no-scope-accepted"))
    yield from expect.sound(seen, "P1", committed=())


GOOD = adopted(__file__, "KIP664-TOOL-06")

REQUIREMENT = Requirement(
    id="KIP664-TOOL-06",
    source=Source(664, "Finding Hanging Transactions"),
    statement="kafka-transactions.sh find-hanging searches a broker with its internal topics, a topic, a partition.",
    needs=(Offers("DescribeProducers", 0),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("search-refused", GOOD.with_step(name, error=1)) for name in FOUND),
        *(Refusal("wrong-scope", GOOD.with_step(name, rows=[])) for name in ("broker", "topic", "partition")),
        Refusal("wrong-scope", GOOD.with_step("broker", rows=[*rows(GOOD["topic"])])),
        Refusal("wrong-scope", GOOD.with_step("other partition", rows=[*rows(GOOD["topic"])])),
        *(Refusal("no-scope-accepted", GOOD.with_step(name, error=0)) for name in WRONG),
        *(Refusal("wrong-message", GOOD.with_step(name, stderr="no")) for name in WRONG),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=INTERNAL_TOPICS_LEFT_OUT, anomaly="wrong-scope"),
        Failpoint(rules=PARTITION_FORGOTTEN, anomaly="wrong-scope"),
        Failpoint(rules=ERRORS_END_WELL, anomaly="no-scope-accepted"),
    ),
)
