"""KIP691-J-18: records that were not sent yet when the application aborts are given up, and told so.

Java: ``TransactionAbortedException`` (KIP-691; ``Sender.maybeAbortBatches``, from 2.7 on). That they are never shown is
promised to every application. What does not linger waits for AddPartitionsToTxn, which is held until abort was called.
"""

from harness.base.deferred_action import deferred
from harness.contract import (
    Evidence,
    LyingClient,
    NotSeen,
    Observations,
    OtherClient,
    Refusal,
    Requirement,
    Source,
    finding,
    habit,
    witness,
)
from harness.contract.clients.client_doctored import batch, call, frame, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, said, sent, succeeded
from harness.contract.doctored import commit, data, log
from harness.evidence.client_evidence import Delivery, Frame, LibraryError
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.next_transaction import does_not_go_on, goes_on, told_next

LINGER_MS = 5_000
"""Longer than the abort needs; commit and flush do not wait for it."""
UNDER_WAY_SECONDS = 0.5
"""Until the partition is added; the check demands that the abort was called before the record was sent."""
JAVA, ABORTED = "java", "TransactionAbortedException"


def stimulus(lab: ClientLab) -> None:
    app, partition = lab.application(linger_ms=LINGER_MS, delivery_timeout_ms=15_000), lab.partition("P1")
    app.init()
    app.begin()
    with app.gate("AddPartitionsToTxn", "hold", name="added late") as adding:
        app.produce(partition, "a", wait=False, as_="produce")
        with deferred(UNDER_WAY_SECONDS, adding.release):
            app.abort(as_="abort")
    app.begin(as_="next begin")
    app.produce(partition, "b", wait=False, as_="next produce")
    app.commit(as_="next commit")


def check(seen: Evidence) -> Observations:
    aborted = said(seen, "abort")
    if sent(seen, "Produce", before=aborted.started):
        raise NotSeen("the record was sent before the abort")
    yield habit(succeeded(aborted, otherwise="not-abortable"))
    told = [each for one in seen.calls for each in one.deliveries if each.value == "a"]
    if late := sent(seen, "Produce", after=aborted.started, before=aborted.answered):
        what = f"{len(late)} Produce requests were sent after the application had called abort"
        yield habit(finding("sent-all-the-same", what))
    elif any(each.outcome == "done" for each in told):
        yield finding("done-without-being-sent", "record 'a' was reported as done, and no Produce was sent")
    elif not told:
        yield habit(finding("not-told", "no result of record 'a' was reported"))
    elif seen.fact("library") == JAVA:
        types = [each.error.type for each in told if each.error is not None]
        same = types == [ABORTED]
        yield witness(f"'a': {types}") if same else habit(finding("another-error", f"'a': {types}, not {ABORTED}"))
    else:
        yield witness("record 'a' was reported as not done")
    yield from goes_on(seen)
    yield from as_it_said(seen)


def story(*told: Delivery, frames: tuple[Frame, ...] = ()) -> Evidence:
    """By hand: the abort comes with these results, and these requests are sent meanwhile."""
    untold = of_client(
        call("init"),
        call("begin"),
        call("produce", name="produce"),
        call("abort", frames=frames),
        *told_next("b"),
        logs={"P1": log(data(7, 1, "b"), commit(7, 1))},
    )
    return with_call(untold, "abort", deliveries=told)


def result(type_: str = ABORTED) -> Delivery:
    """By hand: the record was given up with this error."""
    error = LibraryError(type=type_)
    return Delivery(topic="P1", partition=1, value="a", outcome="refused", error=error)


GOOD = story(result())
SENT = story(result(), frames=(frame("Produce", 12, batch("a")),))
DONE = story(Delivery(topic="P1", partition=1, value="a", outcome="done"))

REQUIREMENT = Requirement(
    id="KIP691-J-18",
    source=Source(691, "Proposed Changes: TransactionAbortedException"),
    statement="Records that were not sent when the application aborts are reported as given up, and are never shown.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-abortable", with_call(GOOD, "abort", outcome="refused")),
        Refusal("sent-all-the-same", SENT),
        Refusal("done-without-being-sent", DONE),
        Refusal("not-told", story()),
        Refusal("another-error", story(result("KafkaException"))),
        does_not_go_on(GOOD),
        Refusal("aborted-is-shown", with_call(GOOD, "produce", values=("a",)).with_log("P1", committed=("a", "b"))),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        OtherClient(client="sarama:1.61.1", anomaly="sent-all-the-same"),
        LyingClient(lie="no-abort", anomaly="aborted-is-shown"),
        LyingClient(lie="writes-again", anomaly="written-twice"),
        LyingClient(lie="tells-records-done", anomaly="done-without-being-sent"),
        LyingClient(lie="drops-results", anomaly="not-told"),
        LyingClient(lie="misnames", anomaly="another-error"),
    ),
)
