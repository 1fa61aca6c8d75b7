"""KIP360-CLI-03: what was sent before a batch that fails for good is in the log once and in order.

Later batches of the partition had their sequences already; they fail too, or are sent again with a new epoch
(``Sender.failBatch``, ``TransactionManager.handleFailedBatch``). Here all are on their way when one is refused.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    LyingClient,
    NotSeen,
    Observations,
    OtherClient,
    Refusal,
    Requirement,
    Source,
    habit,
    unless,
)
from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client
from harness.contract.clients.client_expect import as_it_said, said, sent
from harness.contract.doctored import data, log
from harness.evidence.client_evidence import CallOutcome, ProducedBatch
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.in_flight import all_in_flight

BEFORE, FAILING, LATER = ("a", "b"), "c", ("d", "e")


def stimulus(lab: ClientLab) -> None:
    app, partition = lab.application(transactional=False), lab.partition("P1")
    app.produce(partition, "first", as_="first")
    with app.refused("Produce", KafkaError.TOPIC_AUTHORIZATION_FAILED, skip=len(BEFORE)):
        all_in_flight(app, partition, (*BEFORE, FAILING, *LATER))
        app.flush(as_="flush")


def check(seen: Evidence) -> Observations:
    since = said(seen, f"produce {BEFORE[0]}").started
    written = sent(seen, "Produce", after=since, before=said(seen, "flush").answered)
    failed = [frame for frame in written if frame.answered_by == "gate"]
    if not failed:
        raise NotSeen("no batch failed")
    shown = seen.log("P1").committed
    begins = tuple(value for value in shown if value in (*BEFORE, *LATER))[: len(BEFORE)]
    yield unless(
        begins == BEFORE, f"the log is {shown}; {BEFORE} before all that was sent later", otherwise="reordered"
    )
    old = {(batch.producer_id, batch.epoch) for batch in failed[0].batches}
    late = [frame for frame in written if frame.number > failed[0].number and frame.answered_by == "broker"]
    accepted = {(batch.producer_id, batch.epoch) for frame in late if frame.error == 0 for batch in frame.batches}
    what = f"batches after the failed one of {old} that were accepted have another identity: {accepted}"
    yield habit(unless(not old & accepted, what, otherwise="no-epoch-bump"))
    yield from as_it_said(seen)


def story(*shown: str, again: ProducedBatch, last: CallOutcome = "done") -> Evidence:
    """By hand: the first batch after the failed one is sent again as ``again``."""
    batches = [batch(value, sequence=number) for number, value in enumerate((*BEFORE, FAILING, *LATER), 1)]
    errors = (0, 0, 29, 45, 45)
    told: list[Told] = []
    for number, value in enumerate((*BEFORE, FAILING, *LATER)):
        struck = frame("Produce", 12, batches[number], error=errors[number], by_gate=value == FAILING)
        outcome: CallOutcome = "refused" if value == FAILING else last if value == LATER[-1] else "done"
        told.append(call("produce", value, name=f"produce {value}", outcome=outcome, frames=(struck,)))
    flushed = call("flush", frames=(frame("Produce", 12, again),))
    first = call("produce", "first", name="first", frames=(frame("Produce", 12, batch("first")),))
    return of_client(
        first,
        *told,
        flushed,
        logs={"P1": log(*(data(7, 0, value, transactional=False) for value in ("first", *shown)))},
    )


BUMPED = batch(*LATER, epoch=1)
GOOD = story(*BEFORE, *LATER, again=BUMPED)

REQUIREMENT = Requirement(
    id="KIP360-CLI-03",
    source=Source(360, "Simplified error handling and safe epoch bumping: idempotent producer"),
    statement="Before a batch that fails for good, records are in the log once, in order; later ones fail or follow.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, story(*BEFORE, "d", again=batch("d", epoch=1), last="refused")),
    refuses=(
        Refusal("reordered", story("b", "a", *LATER, again=BUMPED)),
        Refusal("no-epoch-bump", story(*BEFORE, *LATER, again=batch(*LATER, sequence=3))),
        Refusal("written-twice", story(*BEFORE, *LATER, "d", again=BUMPED)),
        Refusal("lost", story(*BEFORE, "d", again=BUMPED)),
    ),
    refuted_by=(
        LyingClient(lie="tells-records-done", anomaly="lost"),
        LyingClient(lie="swaps-records", anomaly="reordered"),
        OtherClient(client="kafkajs:2.2.4", anomaly="no-epoch-bump"),
        LyingClient(lie="writes-again", anomaly="written-twice"),
    ),
)
