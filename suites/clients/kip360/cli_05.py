"""KIP360-CLI-05: with a coordinator of before KIP-360 (InitProducerId up to v2) a client goes on without a new epoch.

The brokers only seem so old: their ApiVersions offer InitProducerId up to v2. A record that was given up leaves an
abortable transaction, and the next one is in the same epoch; 49 and 59 of the coordinator are fatal, because there is
no way to a new identity (``TransactionManager.abortableErrorIfPossible``); KIP-360 has the abortable path alone.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    LyingClient,
    NotSeen,
    Observations,
    Refusal,
    Requirement,
    Source,
    agree,
    habit,
)
from harness.contract.clients.client_doctored import batch, call, frame, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, during, said, sent, succeeded
from harness.contract.clients.error_case import Behaviour, ErrorCase, judged_case
from harness.contract.clients.error_stories import story, with_class
from harness.contract.doctored import commit, data, log
from harness.lab.clients import ClientLab
from harness.lab.clients.error_trial import ErrorTrials
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.next_transaction import SHORT, does_not_go_on, goes_on, next_transaction, told_next
from suites.clients.forms.two_stories import both

OLD = {"InitProducerId": 2}
CASES = tuple(
    ErrorCase(api=api, error=error, behaves=(Behaviour.FATAL,), protocol=1)
    for api, error in (
        ("AddPartitionsToTxn", KafkaError.INVALID_PRODUCER_ID_MAPPING),
        ("EndTxn", KafkaError.UNKNOWN_PRODUCER_ID),
    )
)


def stimulus(lab: ClientLab) -> None:
    partition = lab.partition("P1")
    trials = ErrorTrials(lab, partition, None, lab.group())
    for number, case in enumerate(CASES, 1):
        old = lab.application(f"old{number}", protocol=1, cap=OLD)
        old.init()
        trials.of(case, old, number)
    app = lab.application("expired", protocol=1, cap=OLD, **SHORT)
    app.init()
    with app.gate("Produce", "drop-request", at_most=None, name="lost"):
        app.begin(as_="expired begin")
        app.produce(partition, "expired", as_="expired produce")
    app.abort(as_="expired abort")
    next_transaction(app, partition, "next")


def check(seen: Evidence) -> Observations:
    versions = {frame.version for frame in sent(seen, "InitProducerId", by="expired")}
    if max(versions, default=0) > OLD["InitProducerId"]:
        raise NotSeen(f"InitProducerId was sent in versions {versions}")
    for case in CASES:
        yield from judged_case(seen, case)
    late = [each.epoch for frame in during(seen, said(seen, "expired produce"), "Produce") for each in frame.batches]
    if said(seen, "expired produce").done or not late:
        raise NotSeen("no record was given up")
    yield habit(succeeded(said(seen, "expired abort"), otherwise="not-abortable"))
    yield from goes_on(seen)
    following = said(seen, "next begin").started
    after = [each.epoch for frame in sent(seen, "Produce", by="expired", after=following) for each in frame.batches]
    yield habit(agree("epochs of the next records", set(after) <= {late[0]}, True, otherwise="another-epoch"))
    yield from as_it_said(seen)


def expired(epoch: int = 0) -> Evidence:
    """By hand: a record that was given up, and the next transaction in this epoch."""
    return of_client(
        call("init", by="expired", frames=(frame("InitProducerId", 2, epoch=-1),)),
        call("begin", name="expired begin", by="expired"),
        call(
            "produce",
            "expired",
            name="expired produce",
            by="expired",
            outcome="unsure",
            frames=(frame("Produce", 11, batch("expired"), error=None),),
        ),
        call("abort", name="expired abort", by="expired"),
        *told_next("next", by="expired", epoch=epoch, sequence=1),
        logs={"P1": log(data(7, 0, "next"), commit(7, 0))},
    )


SOUND = story(CASES)
GOOD = both(SOUND, expired())
RETRIED = story(CASES, EndTxn_59=Behaviour.RETRIED)
STUCK = story(CASES, EndTxn_59=Behaviour.STUCK)

REQUIREMENT = Requirement(
    id="KIP360-CLI-05",
    source=Source(360, "Compatibility, Deprecation, and Migration Plan"),
    statement="Where InitProducerId v3 is missing a client aborts and goes on in its epoch; lost identities are fatal.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-fatal", both(RETRIED, expired())),
        Refusal("stuck", both(STUCK, expired())),
        Refusal("class-is-not-so", both(with_class(SOUND, CASES[0], Behaviour.FATAL, says="abortable"), expired())),
        Refusal("not-abortable", with_call(GOOD, "expired abort", outcome="refused")),
        does_not_go_on(GOOD),
        Refusal("another-epoch", both(SOUND, expired(epoch=1))),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=(*GOOD.log("P1").committed, "expired"))),
        Refusal("lost", GOOD.with_log("P1", committed=SOUND.log("P1").committed)),
    ),
    refuted_by=(
        LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal"),
        LyingClient(lie="loses-records", anomaly="lost"),
    ),
)
