"""KIP691-J-13: OUT_OF_ORDER_SEQUENCE_NUMBER (45) ends a transaction only where the refused batch was the next one.

A later batch is out of order because one before it is tried again, so it is tried again as well
(``TransactionManager.canRetry``). What an idempotent producer without transactions does is KIP360-CLI-04.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    LyingClient,
    NotLooked,
    Observations,
    OtherClient,
    Refusal,
    Requirement,
    Source,
    habit,
)
from harness.contract.clients.client_doctored import batch, call, frame, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, said, sent, succeeded
from harness.contract.clients.error_case import Behaviour, ErrorCase, judged_case
from harness.contract.clients.error_stories import story
from harness.contract.doctored import commit, data, log
from harness.lab.clients import ClientLab
from harness.lab.clients.error_trial import ErrorTrials
from suites.clients.forms.error_requirement import SOUND_LIBRDKAFKA, TRANSACTIONS
from suites.clients.forms.in_flight import all_in_flight
from suites.clients.forms.next_transaction import next_transaction, told_next
from suites.clients.forms.two_stories import both

HEAD = ErrorCase(
    api="Produce", error=KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, behaves=(Behaviour.ABORTABLE,), bumps=True
)
ERRORS = (KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)
"""Of the head, and of the later batch."""


def stimulus(lab: ClientLab) -> None:
    partition = lab.partition("P1")
    first = lab.application("first")
    first.init()
    ErrorTrials(lab, partition, None, lab.group()).of(HEAD, first, 1)
    app = lab.application("later")
    app.init()
    next_transaction(app, partition, "before", step="before")
    with app.refused("Produce", ERRORS[0], skip=1), app.refused("Produce", ERRORS[1], skip=1):
        app.begin(as_="later begin")
        all_in_flight(app, partition, ("sound", "one", "two"))
        app.flush(as_="later flush")
    app.commit(as_="later commit")


def check(seen: Evidence) -> Observations:
    yield from judged_case(seen, HEAD)
    begun, flushed = said(seen, "later begin"), said(seen, "later flush")
    written = sent(seen, "Produce", by="later", after=begun.started, before=flushed.answered)
    refused = [frame for frame in written if frame.answered_by == "gate" and frame.batches]
    errors = [frame.error for frame in refused]
    if errors == [*ERRORS] and refused[0].batches[0].base_sequence < refused[1].batches[0].base_sequence:
        yield habit(succeeded(said(seen, "later commit"), otherwise="later-is-not-retried"))
    else:
        yield NotLooked(what=f"a later batch on its way with the one before; errors of the gate were {errors}")
    yield from as_it_said(seen)


def later(outcome: str = "done") -> Evidence:
    """By hand: a later batch, and what commit says."""
    one, two = batch("one", epoch=1), batch("two", epoch=1, sequence=1)
    frames = (
        frame("Produce", 12, one, error=19, by_gate=True),
        frame("Produce", 12, two, error=45, by_gate=True),
        frame("Produce", 12, one),
        frame("Produce", 12, two),
    )
    return of_client(
        *told_next("before", step="before", by="later"),
        call("begin", name="later begin", by="later"),
        call("produce", "one", name="produce one", by="later"),
        call("produce", "two", name="produce two", by="later"),
        call("flush", name="later flush", by="later", frames=frames),
        call("commit", name="later commit", by="later", outcome=outcome),  # type: ignore[arg-type]
        logs={"P1": log(data(7, 1, "before"), commit(7, 1), data(7, 2, "one"), data(7, 2, "two"), commit(7, 2))},
    )


SOUND = story((HEAD,))
GOOD = both(SOUND, later())

REQUIREMENT = Requirement(
    id="KIP691-J-13",
    source=Source(691, "Proposed Changes: OutOfOrderSequenceException"),
    statement="After 45 for the next batch the transaction can be aborted; a later batch with 45 is tried again.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-abortable", both(story((HEAD,), Produce_45=Behaviour.RETRIED), later())),
        Refusal("stuck", both(story((HEAD,), Produce_45=Behaviour.STUCK), later())),
        Refusal("later-is-not-retried", with_call(GOOD, "later commit", outcome="refused")),
        Refusal("written-twice", GOOD.with_log("P1", committed=(*GOOD.log("P1").committed, "one"))),
        Refusal("lost", both(SOUND, later().with_log("P1", committed=("before", "one")))),
    ),
    refuted_by=(
        LyingClient(lie="never-comes-back", anomaly="not-abortable"),
        OtherClient(client=SOUND_LIBRDKAFKA, anomaly="later-is-not-retried"),
        LyingClient(lie="aborts-instead", anomaly="lost"),
    ),
)
