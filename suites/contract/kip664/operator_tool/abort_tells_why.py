"""KIP664-WTM-10: an abort that meets a moved leader is sent again; one that is refused fails, and says why.

Four partitions hang. The first answer of the first one's leader is changed into NOT_LEADER_OR_FOLLOWER on the tool's
lane, as if the leader had moved; that of the second into a refusal of permission. The third is aborted in an old epoch,
and the fourth for an older coordinator than the leader knows, which both are refused by the leader itself. That the
admin client retries and that the others are errors is the KIP's; the words are Kafka's.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import NO_COORDINATOR_EPOCH_CHECK
from harness.contract.byteman.tool_rules import ERRORS_END_WELL, MOVED_LEADER_IS_FATAL
from harness.contract.doctored import abort, data, evidence, gate, log, sample, unsound, written
from harness.contract.refuters import Failpoint
from harness.contract.tool_words import complains, ran, silent
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.beyond_requests.operator_tool import place
from suites.contract.kip664.hanging_writes import WRITE, hang, hung, look

LIES = {"moved": KafkaError.NOT_LEADER_OR_FOLLOWER, "not allowed": KafkaError.CLUSTER_AUTHORIZATION_FAILED}
REFUSED = {
    "not allowed": "cluster authorization",
    "old epoch": "invalid producer epoch",
    "old coordinator": "coordinator epoch",
}
ALIASES = ("P1", "P2", "P3", "P4")
NEWER = 5
"""The coordinator epoch of a marker that the leader of the fourth has seen."""


def stimulus(lab: Lab) -> None:
    """Four aborts; what is left open then is ended by markers that need no tool."""
    txn, first = lab.producer(), lab.partition("P1")
    partitions = (first, *(lab.partition(alias, leader=first.leader) for alias in ALIASES[1:]))
    txn.init()
    _newer_marker(lab, txn, partitions[3])
    hang(lab, txn, *partitions)
    look(lab, "hangs", *partitions)
    for (name, error), partition in zip(LIES.items(), partitions, strict=False):
        lane = txn.lane_to(partition.leader)
        with lab.gate(lane, api="WriteTxnMarkers", action="rewrite", name=name, error=error):
            _abort(lab, txn, partition, name, txn.epoch)
    _abort(lab, txn, partitions[2], "old epoch", txn.epoch - 1)
    _abort(lab, txn, partitions[3], "old coordinator", txn.epoch)
    look(lab, "aborted", *partitions)
    for partition in partitions[2:]:
        _newer_marker(lab, txn, partition)


def _newer_marker(lab: Lab, txn: Producer, partition: Partition) -> None:
    lab.write_marker(partition, producer_id=txn.producer_id, epoch=txn.epoch, coordinator_epoch=NEWER, commit=False)


def _abort(lab: Lab, txn: Producer, partition: Partition, name: str, epoch: int) -> None:
    identity = ("--producer-id", txn.producer_id, "--producer-epoch", epoch, "--coordinator-epoch", 0)
    lab.operator("abort", *place(partition), *identity, lane="victim", as_=name)


def check(seen: Evidence) -> Observations:
    """The first succeeds and leaves nothing open; the others fail, and those that the leader refused end nothing."""
    hung(seen, *ALIASES)
    for name in LIES:
        expect.gated(seen, name)
    yield silent(seen["moved"], otherwise="moved-leader-fatal")
    after = seen.sample("P1 aborted")
    ended = after.last_stable_offset == after.high_watermark
    yield expect.unless(ended, "nothing is open on P1", seen["moved"], otherwise="still-hanging")
    for name, words in REFUSED.items():
        step = seen[name]
        yield expect.unless(step.error != 0, f"{name} is an error", step, otherwise="refusal-hidden")
        if step.error != 0:
            yield expect.habit(complains(step, words, otherwise="refusal-hidden"))
    for alias, name in (("P3", "old epoch"), ("P4", "old coordinator")):
        before, after = (seen.sample(f"{alias} {moment}") for moment in ("hangs", "aborted"))
        same = before.high_watermark == after.high_watermark
        yield expect.unless(same, f"nothing is written to {alias}", seen[name], otherwise="refused-abort-written")
    for alias in ALIASES:
        yield from expect.sound(seen, alias, committed=())


_HUNG = tuple(sample(f"{alias} hangs", alias, 1, 0) for alias in ALIASES)
GOOD = evidence(
    *(written(WRITE, 9, alias, to=alias) for alias in ALIASES),
    ran("moved"),
    *(ran(name, exit_code=1, stderr=f"failed due to {words}") for name, words in REFUSED.items()),
    faults=tuple(gate(name, "rewrite") for name in LIES),
    samples=(*_HUNG, *(sample(f"{alias} aborted", alias, 1, int(alias == "P1")) for alias in ALIASES)),
    logs={alias: log(data(7, 1, alias), abort(7, 1)) for alias in ALIASES},
)

REQUIREMENT = Requirement(
    id="KIP664-WTM-10",
    source=Source(664, "Recovery"),
    statement="An operator's abort is sent again when the leader has moved, and fails with the reason when refused.",
    needs=(Offers("WriteTxnMarkers", 1),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.CHANGES, Access.LANES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("moved-leader-fatal", GOOD.with_step("moved", error=1)),
        Refusal("still-hanging", GOOD.with_sample("P1 aborted", last_stable_offset=0)),
        *(Refusal("refusal-hidden", GOOD.with_step(name, error=0)) for name in REFUSED),
        *(Refusal("wrong-message", GOOD.with_step(name, stderr="no")) for name in REFUSED),
        *(Refusal("refused-abort-written", GOOD.with_sample(f"{a} aborted", high_watermark=2)) for a in ("P3", "P4")),
        *unsound(GOOD, "P4", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=MOVED_LEADER_IS_FATAL, anomaly="moved-leader-fatal"),
        Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK, anomaly="refused-abort-written"),
        Failpoint(rules=ERRORS_END_WELL, anomaly="refusal-hidden"),
    ),
)
