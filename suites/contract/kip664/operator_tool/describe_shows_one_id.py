"""KIP664-TOOL-03: ``describe`` shows what the coordinator keeps of one transactional id, and fails for an unknown one.

Compared with the coordinator's own answer (DescribeTransactions), for a transaction on two partitions and for an id
with nothing open. The KIP promises the command as a view of that API; that it is a table with these headings, ``None``
for no start time, and the error's words are Kafka's.
"""

from harness.contract import Access, Evidence, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import (
    DESCRIBE_FAILS,
    ERRORS_END_WELL,
    WRONG_DURATION_DESCRIBED,
    WRONG_EPOCH_DESCRIBED,
    ZERO_START_DESCRIBED,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import complains, rows
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

UNKNOWN = "nobody-has-this-id"
CELLS = {
    "CoordinatorId": "coordinator",
    "TransactionalId": "transactional_id",
    "ProducerId": "producer_id",
    "ProducerEpoch": "producer_epoch",
    "TransactionState": "state",
    "TransactionTimeoutMs": "timeout_ms",
}


def stimulus(lab: Lab) -> None:
    """An id with a transaction on two partitions, one with none, one that nobody has."""
    txn, idle = lab.producer(timeout_ms=45_000), lab.producer("rival", timeout_ms=50_000)
    for alias in ("P1", "P2"):
        txn.write(lab.partition(alias))
    asked = {"open": txn.transactional_id, "idle": idle.transactional_id, "unknown": UNKNOWN}
    running = {name: lab.start_operator("describe", "--transactional-id", id_) for name, id_ in asked.items()}
    for name, command in running.items():
        command.answer(as_=name)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="open kept")
    lab.observer.transaction(idle.transactional_id, idle.coordinator, as_="idle kept")
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """One row each, with what the coordinator keeps; the unknown id is an error."""
    for name in ("open", "idle"):
        told, kept = seen[name], seen[f"{name} kept"]
        yield expect.accepted(told, otherwise="describe-refused")
        yield from _row(told, kept)
    start, began = seen["open kept"].answer_int("start_time_ms"), [_cell(seen["open"], "CurrentTransactionStartTimeMs")]
    yield expect.agree("start time", began, [str(start)], seen["open"], otherwise="wrong-start-time")
    lasts = _cell(seen["open"], "TransactionDurationMs")
    yield expect.unless(lasts.isdigit(), "the duration is a number", seen["open"], otherwise="wrong-duration")
    for heading in ("CurrentTransactionStartTimeMs", "TransactionDurationMs"):
        shown = expect.agree(heading, _cell(seen["idle"], heading), "None", seen["idle"], otherwise="wrong-start-time")
        yield expect.habit(shown)
    for alias in ("P1", "P2"):
        yield from expect.sound(seen, alias)
    yield complains(seen["unknown"], f"`{UNKNOWN}`", otherwise="unknown-id-described")


def _row(told: Step, kept: Step) -> Observations:
    promised = {**kept.fields, "coordinator": kept.node, "transactional_id": kept.request["transactional_id"]}
    for heading, field in CELLS.items():
        yield expect.agree(heading, _cell(told, heading), str(promised[field]), told, otherwise="wrong-row")
    partitions = [row.get("TopicPartitions") for row in rows(told)]
    in_order = [sorted(map(str, each)) for each in partitions if isinstance(each, list)]
    promised_ones = kept.fields.get("partitions")
    wanted = [sorted(map(str, promised_ones if isinstance(promised_ones, list) else ()))]
    yield expect.agree("partitions", in_order, wanted, told, otherwise="wrong-partitions")


def _cell(told: Step, heading: str) -> str:
    """The cell of the one row; empty where there is not one."""
    found = rows(told)
    return str(found[0].get(heading)) if len(found) == 1 else ""


GOOD = adopted(__file__, "KIP664-TOOL-03")


def _with(name: str, **cells: str | list[str]) -> Evidence:
    row = {**rows(GOOD[name])[0], **cells}
    return GOOD.with_step(name, rows=[row])


REQUIREMENT = Requirement(
    id="KIP664-TOOL-03",
    source=Source(664, "Describing Transactions"),
    statement="kafka-transactions.sh describe shows what the coordinator keeps of a transactional id.",
    needs=(Offers("DescribeTransactions", 0),),
    access=(Access.TOOL,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("describe-refused", GOOD.with_step("idle", error=1)),
        *(Refusal("wrong-row", _with("open", **{heading: "4711"})) for heading in CELLS),
        Refusal("wrong-partitions", _with("open", TopicPartitions=["P1"])),
        Refusal("wrong-start-time", _with("open", CurrentTransactionStartTimeMs="0")),
        Refusal("wrong-start-time", _with("idle", CurrentTransactionStartTimeMs="-1")),
        Refusal("wrong-duration", _with("open", TransactionDurationMs="None")),
        Refusal("unknown-id-described", GOOD.with_step("unknown", error=0)),
        Refusal("wrong-message", GOOD.with_step("unknown", stderr="")),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=WRONG_EPOCH_DESCRIBED, anomaly="wrong-row"),
        Failpoint(rules=ZERO_START_DESCRIBED, anomaly="wrong-start-time"),
        Failpoint(rules=ERRORS_END_WELL, anomaly="unknown-id-described"),
        Failpoint(rules=WRONG_DURATION_DESCRIBED, anomaly="wrong-duration"),
        Failpoint(rules=DESCRIBE_FAILS, anomaly="describe-refused"),
    ),
)
