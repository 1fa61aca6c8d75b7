"""KIP360-CLI-01: after a record that was given up, an old-protocol client aborts, bumps its epoch, and goes on.

The bump is what refuses the record when its request arrives after all, in the next transaction, once that has added the
partition and before its own first record: so it does here.
That such a record is not shown is promised to every application; how it is brought about is Java's way
(``TransactionManager``: ``clientSideEpochBumpRequired``, from 2.5 on).
"""

from harness.contract import (
    Ability,
    Evidence,
    LyingClient,
    NotSeen,
    Observations,
    OtherClient,
    Refusal,
    Requirement,
    Source,
    agree,
    habit,
)
from harness.contract.clients.client_doctored import batch, call, frame, of_client, with_call, with_frames
from harness.contract.clients.client_expect import as_it_said, during, said, sent, succeeded
from harness.contract.doctored import abort, commit, data, log
from harness.evidence.client_evidence import ProducedBatch
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.next_transaction import SHORT, does_not_go_on, goes_on, was_written


def stimulus(lab: ClientLab) -> None:
    app, partition = lab.application(protocol=1, **SHORT), lab.partition("P1")
    app.init()
    app.begin()
    with app.gate("Produce", "hold", alone=True, name="late") as late:
        with app.gate("Produce", "drop-request", at_most=None, hang_up=True, name="lost"):
            app.produce(partition, "a", as_="produce")
            app.abort(as_="abort")  # some libraries give a record up no sooner
        app.begin(as_="next begin")
        sent_before = len(app.sent("Produce"))
        with app.gate("Produce", "hold", name="behind it"):
            app.produce(partition, "b", wait=False, as_="next produce")
            app.has_sent("Produce", sent_before + 1)
            late.release()
    app.produce(partition, "c", as_="last produce")
    app.commit(as_="next commit")


def check(seen: Evidence) -> Observations:
    given_up, aborted, following = said(seen, "produce"), said(seen, "abort"), said(seen, "next begin")
    late = [batch for frame in during(seen, given_up, "Produce") for batch in frame.batches]
    if given_up.done or was_written(seen, "a") or not late:
        raise NotSeen("no record was given up")
    yield habit(succeeded(aborted, otherwise="not-abortable"))
    written = [batch for frame in sent(seen, "Produce", after=following.started) for batch in frame.batches]
    if written:
        bumped = [frame.epoch for frame in sent(seen, "InitProducerId", after=aborted.started)][:1]
        first, before = written[0], (late[0].producer_id, late[0].epoch)
        yield habit(
            agree("identities of InitProducerId after it", bumped, [before[1]], otherwise="no-init-after-abort")
        )
        another = (first.producer_id, first.epoch) != before
        yield habit(agree("another identity of the next record", another, True, otherwise="no-epoch-bump"))
        yield habit(agree("sequence of the next record", first.base_sequence, 0, otherwise="sequence-goes-on"))
    yield from goes_on(seen)
    yield from as_it_said(seen)


def story(following: ProducedBatch) -> Evidence:
    """By hand: the next transaction begins with this batch."""
    return of_client(
        call("init"),
        call("begin"),
        call("produce", "a", outcome="unsure", frames=(frame("Produce", 11, batch("a"), error=None),)),
        call("abort", frames=(frame("EndTxn", 4, epoch=0, committed=False), frame("InitProducerId", 5, epoch=0))),
        call("begin", name="next begin"),
        call("produce", "b", name="next produce", frames=(frame("Produce", 11, following),)),
        call("produce", "c", name="last produce"),
        call("commit", name="next commit"),
        logs={"P1": log(abort(7, 0), data(7, 1, "b"), data(7, 1, "c"), commit(7, 1))},
    )


GOOD = story(batch("b", epoch=1))

REQUIREMENT = Requirement(
    id="KIP360-CLI-01",
    source=Source(360, "Simplified error handling and safe epoch bumping"),
    statement="After a given up record the client aborts, gets a new epoch, and goes on; the record is not shown.",
    needs=(TRANSACTIONS, Ability("giving-up")),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-abortable", with_call(GOOD, "abort", outcome="refused")),
        Refusal("no-init-after-abort", with_frames(GOOD, "InitProducerId", epoch=-1)),
        Refusal("no-epoch-bump", story(batch("b"))),
        Refusal("sequence-goes-on", story(batch("b", epoch=1, sequence=1))),
        does_not_go_on(GOOD.with_log("P1", committed=("b", "c"))),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=("b", "a", "c"))),
        Refusal("lost", GOOD.with_log("P1", committed=("b",))),
        Refusal("written-twice", GOOD.with_log("P1", committed=("b", "c", "c"))),
    ),
    refuted_by=(
        OtherClient(client="kafka-python:3.0.12", anomaly="aborted-is-shown"),
        OtherClient(client="kafka-python:3.0.12", anomaly="no-init-after-abort"),
        OtherClient(client="kafka-python:3.0.12", anomaly="no-epoch-bump"),
        LyingClient(lie="refuses-ends", anomaly="stuck"),
        LyingClient(lie="aborts-instead", anomaly="lost"),
    ),
)
