"""KIP664-TOOL-09: ``abort --start-offset`` ends the transaction that begins there, and no other.

Committed data lies before it, so that the offset is not 0; the offset of its second record comes first, and an open
transaction of another producer behind it stays open. That it is ended and readers go on is the KIP's promise, and that
nothing is written for an offset at which none begins; the tool's silence and words are Kafka's.
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.tool_rules import ANY_OFFSET_ABORTED, ERRORS_END_WELL, NOTHING_ABORTED
from harness.contract.doctored import abort, adopted, commit, log, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import complains, silent
from harness.lab import Lab
from harness.lab.powers.beyond_requests.operator_tool import place
from suites.contract.kip664.hanging_writes import WRITE, hang, hung, look


def stimulus(lab: Lab) -> None:
    """Committed data, two records that hang, another open transaction; two aborts, the first at a wrong offset."""
    partition, rival, txn = lab.partition("P1"), lab.producer("rival"), lab.producer()
    rival.write(partition)
    rival.end(commit=True)
    lab.completed(partition)
    start = lab.observer.end_offset(partition)
    hang(lab, txn, partition, partition)
    rival.write(partition)
    look(lab, "hangs", partition)
    lab.operator("abort", *place(partition), "--start-offset", start + 1, as_="abort of another")
    look(lab, "hangs on", partition)
    lab.operator("abort", *place(partition), "--start-offset", start, as_="abort")
    look(lab, "ended", partition)
    rival.end(commit=True)


def check(seen: Evidence) -> Observations:
    """The wrong offset changes nothing; the right one ends the one transaction with an abort marker of its epoch."""
    hung(seen, "P1")
    own = seen.all(WRITE)[0].request_int("producer_id")
    before, between, after = (seen.sample(f"P1 {moment}") for moment in ("hangs", "hangs on", "ended"))
    another, abort = seen["abort of another"], seen["abort"]
    words = f"Could not find any open transactions starting at offset {before.last_stable_offset + 1}"
    yield expect.habit(complains(another, words, otherwise="wrong-offset-accepted"))
    same = between.high_watermark == before.high_watermark and between.last_stable_offset == before.last_stable_offset
    yield expect.unless(same, "nothing is written for it", another, otherwise="wrong-offset-aborted")
    yield silent(abort, otherwise="abort-refused")
    behind = before.last_stable_offset + 2
    yield expect.agree("LSO after", after.last_stable_offset, behind, abort, otherwise="still-hanging")
    marks = [one.control for one in seen.log().markers() if one.producer_id == own]
    epochs = [one.producer_epoch for one in seen.log().markers() if one.producer_id == own]
    yield expect.agree("its markers", marks, ["ABORT"], abort, otherwise="wrong-marker")
    yield expect.agree("their epochs", epochs, [0], abort, otherwise="epoch-changed")
    values = seen.log().values()
    yield from expect.sound(seen, committed=(values[0], *values[3:]))


GOOD = adopted(__file__, "KIP664-TOOL-09")
_BATCHES, _SHOWN = GOOD.log().batches, GOOD.log().committed
_AT = next(at for at, batch in enumerate(_BATCHES) if batch.control == "ABORT")
_OPEN, _REST, _OWN = _BATCHES[:_AT], _BATCHES[_AT + 1 :], _BATCHES[_AT].producer_id

REQUIREMENT = Requirement(
    id="KIP664-TOOL-09",
    source=Source(664, "Aborting Transactions"),
    statement="kafka-transactions.sh abort --start-offset ends the transaction that begins there, and no other.",
    needs=(Offers("DescribeProducers", 0), Offers("WriteTxnMarkers", 1)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.TOOL, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wrong-offset-accepted", GOOD.with_step("abort of another", error=0)),
        Refusal("wrong-message", GOOD.with_step("abort of another", stderr="no")),
        Refusal("wrong-offset-aborted", GOOD.with_sample("P1 hangs on", high_watermark=9)),
        Refusal("abort-refused", GOOD.with_step("abort", error=1)),
        Refusal("abort-refused", GOOD.with_step("abort", stdout=["done"])),
        *(Refusal("still-hanging", GOOD.with_sample("P1 ended", last_stable_offset=lso)) for lso in (2, 6)),
        Refusal("wrong-marker", GOOD.with_log(truth=log(*_OPEN, commit(_OWN, 0), *_REST), committed=_SHOWN)),
        Refusal("epoch-changed", GOOD.with_log(truth=log(*_OPEN, abort(_OWN, 1), *_REST), committed=_SHOWN)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ANY_OFFSET_ABORTED, anomaly="wrong-offset-aborted"),
        Failpoint(rules=ERRORS_END_WELL, anomaly="wrong-offset-accepted"),
        Failpoint(rules=NOTHING_ABORTED, anomaly="still-hanging"),
    ),
)
