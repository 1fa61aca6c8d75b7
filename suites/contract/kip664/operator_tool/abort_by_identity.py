"""KIP664-TOOL-10: ``abort`` with producer id, epoch and coordinator epoch ends a transaction without looking it up.

That is the way for brokers without DescribeProducers (KIP-664, "Compatibility"). The KIP's coordinator epoch of an
operator is -1, which Kafka takes for 0; it also refuses a missing argument, and an older producer epoch than the
leader's.
"""

from collections.abc import Mapping

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import (
    ANOTHER_EPOCH_SENT,
    ERRORS_END_WELL,
    NO_COORDINATOR_EPOCH_SENT,
    NOTHING_ABORTED,
)
from harness.contract.doctored import abort, adopted, commit, log, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tool_words import complains, silent
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.beyond_requests.operator_tool import place
from suites.contract.kip664.hanging_writes import WRITE, hang, hung, look

ARGUMENTS = ("--producer-id", "--producer-epoch", "--coordinator-epoch")
REFUSED = {
    "no epoch": "Missing required argument --producer-epoch",
    "no coordinator epoch": "Missing required argument --coordinator-epoch",
    "older epoch": "Failed to abort transaction",
}
COORDINATOR_EPOCHS = {"P1": 0, "P2": -1}


def stimulus(lab: Lab) -> None:
    """What hangs in epoch 1 of an id on two partitions; three wrong aborts of the first, then the right ones."""
    txn, first = lab.producer(), lab.partition("P1")
    partitions = (first, lab.partition("P2", leader=first.leader))
    txn.init()
    hang(lab, txn, *partitions)
    look(lab, "hangs", *partitions)
    wrong = {"no epoch": (None, 0), "no coordinator epoch": (txn.epoch, None), "older epoch": (txn.epoch - 1, 0)}
    _aborts(lab, txn, {name: (first, *epochs) for name, epochs in wrong.items()})
    look(lab, "hangs on", first)
    right = {f"abort {at.alias}": (at, txn.epoch, COORDINATOR_EPOCHS[at.alias]) for at in partitions}
    _aborts(lab, txn, right)
    look(lab, "ended", *partitions)


def _aborts(lab: Lab, txn: Producer, asked: Mapping[str, tuple[Partition, int | None, int | None]]) -> None:
    """All of them at the same time; an argument that is None is left out."""
    running = {}
    for name, (partition, epoch, coordinator_epoch) in asked.items():
        given = zip(ARGUMENTS, (txn.producer_id, epoch, coordinator_epoch), strict=True)
        arguments = [part for key, value in given if value is not None for part in (key, value)]
        running[name] = lab.start_operator("abort", *place(partition), *arguments)
    for name, command in running.items():
        command.answer(as_=name)


def check(seen: Evidence) -> Observations:
    """Wrong aborts write nothing; right ones end the transaction with one abort marker in its epoch."""
    hung(seen, "P1", "P2")
    for name, words in REFUSED.items():
        yield expect.habit(complains(seen[name], words, otherwise="wrong-abort-accepted"))
    before, between = seen.sample("P1 hangs"), seen.sample("P1 hangs on")
    same = between.high_watermark == before.high_watermark and between.last_stable_offset == before.last_stable_offset
    wrong = [seen[name] for name in REFUSED]
    yield expect.unless(same, "wrong aborts write nothing", *wrong, otherwise="wrong-abort-written")
    for alias, write in zip(COORDINATOR_EPOCHS, seen.all(WRITE), strict=True):
        abort, after = seen[f"abort {alias}"], seen.sample(f"{alias} ended")
        yield silent(abort, otherwise="abort-refused")
        ended = after.last_stable_offset == after.high_watermark
        yield expect.unless(ended, f"nothing is open on {alias}", abort, otherwise="still-hanging")
        epoch, kept = write.request_int("producer_epoch"), [one.coordinator_epoch for one in seen.log(alias).markers()]
        yield expect.marks(seen, alias, ("ABORT", epoch), otherwise="wrong-marker")
        yield expect.habit(expect.agree("its coordinator", kept, [0], abort, otherwise="wrong-coordinator-epoch"))
        yield from expect.sound(seen, alias, committed=())


GOOD = adopted(__file__, "KIP664-TOOL-10")
_BATCHES = GOOD.log().batches
_OWN = _BATCHES[0].producer_id

REQUIREMENT = Requirement(
    id="KIP664-TOOL-10",
    source=Source(664, "Aborting Transactions"),
    statement="kafka-transactions.sh abort with producer id, epoch and coordinator epoch ends that transaction.",
    needs=(Offers("WriteTxnMarkers", 1),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("wrong-abort-accepted", GOOD.with_step(name, error=0)) for name in REFUSED),
        *(Refusal("wrong-message", GOOD.with_step(name, stderr="no")) for name in REFUSED),
        Refusal("wrong-abort-written", GOOD.with_sample("P1 hangs on", high_watermark=9)),
        *(Refusal("abort-refused", GOOD.with_step(f"abort {alias}", error=1)) for alias in COORDINATOR_EPOCHS),
        Refusal("still-hanging", GOOD.with_sample("P2 ended", last_stable_offset=0)),
        Refusal("wrong-marker", GOOD.with_log(truth=log(_BATCHES[0], abort(_OWN, 2)))),
        Refusal("wrong-marker", GOOD.with_log(truth=log(_BATCHES[0], commit(_OWN, 1)), committed=())),
        Refusal("wrong-coordinator-epoch", GOOD.with_log(truth=log(_BATCHES[0], abort(_OWN, 1, coordinator_epoch=-1)))),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=NOTHING_ABORTED, anomaly="still-hanging"),
        Failpoint(rules=ANOTHER_EPOCH_SENT, anomaly="wrong-abort-written"),
        Failpoint(rules=ERRORS_END_WELL, anomaly="wrong-abort-accepted"),
        Failpoint(rules=NO_COORDINATOR_EPOCH_SENT, anomaly="wrong-coordinator-epoch"),
    ),
)
