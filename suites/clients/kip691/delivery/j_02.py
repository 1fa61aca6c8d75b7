"""KIP691-J-02: a record whose time is over leaves a transaction that can only be aborted.

KIP-691 lets ``TimeoutException`` of a record be abortable; that nothing is committed without the record is promised to
every application (KIP-98, "Transactional Guarantees"). Java's commit throws ``KafkaException``, where the KIP has
``CommitFailedException``; which cause it names is KIP691-J-15's.
"""

from harness.contract import (
    Evidence,
    LyingClient,
    NotSeen,
    Observations,
    OtherClient,
    Refusal,
    Requirement,
    Source,
    habit,
)
from harness.contract.clients.client_doctored import batch, call, frame, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, during, failed, said, succeeded
from harness.contract.doctored import commit, data, log
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.next_transaction import (
    SHORT,
    aborted_unless_done,
    does_not_go_on,
    goes_on,
    next_transaction,
    told_next,
)


def stimulus(lab: ClientLab) -> None:
    app, partition = lab.application(**SHORT), lab.partition("P1")
    app.init()
    with app.gate("Produce", "drop-request", at_most=None, hang_up=True, name="lost"):
        app.begin()
        app.produce(partition, "a", as_="produce")
        ended = app.commit(as_="commit")
    aborted_unless_done(app, ended)
    next_transaction(app, partition, "b")


def check(seen: Evidence) -> Observations:
    lost = said(seen, "produce")
    if any(frame.answered is not None for frame in during(seen, lost, "Produce")) or not during(seen, lost, "Produce"):
        raise NotSeen("no Produce of the client was lost")
    yield failed(lost, otherwise="done-without-an-answer")
    if not said(seen, "commit").done:  # else the log shows what it is worth
        yield habit(succeeded(said(seen, "abort after commit"), otherwise="not-abortable"))
    yield from goes_on(seen)
    yield from as_it_said(seen)


GOOD = of_client(
    call("init"),
    call("begin"),
    call(
        "produce",
        "a",
        outcome="unsure",
        says="retriable",
        type_="TimeoutException",
        frames=(frame("Produce", 12, batch("a"), error=None),),
    ),
    call("commit", outcome="refused", says="abortable"),
    call("abort", name="abort after commit"),
    *told_next("b"),
    logs={"P1": log(data(7, 1, "b"), commit(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP691-J-02",
    source=Source(691, "Proposed Changes: TimeoutException, abortable"),
    statement="After a record's time is over its transaction can be aborted, is not committed, and the next one is.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("done-without-an-answer", with_call(GOOD, "produce", outcome="done", error=None)),
        Refusal("not-abortable", with_call(GOOD, "abort after commit", outcome="refused")),
        does_not_go_on(GOOD),
        Refusal("committed-without-a-record", with_call(GOOD, "commit", outcome="done", error=None)),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=("a", "b"))),
    ),
    refuted_by=(
        OtherClient(client="kafka-python:3.0.12", anomaly="committed-without-a-record"),
        LyingClient(lie="commits-after-refused-record", anomaly="committed-without-a-record"),
        LyingClient(lie="never-comes-back", anomaly="stuck"),
    ),
)
