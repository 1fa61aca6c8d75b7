"""KIP360-CLI-05: with a coordinator of before KIP-360 (InitProducerId up to v2) a client does not go on unsafely.

The brokers only seem so old: their ApiVersions offer InitProducerId up to v2. A record that was sent and given up may
still arrive, and without another epoch nothing refuses it then: Java ends there («It isn't safe to continue.»,
``TransactionManager.maybeResolveSequences``; the catalogue, for records that were never sent, lets the epoch go on).
49 and 59 of the coordinator are fatal too, for lack of a way to a new identity (``abortableErrorIfPossible``).
"""

from harness.contract import (
    Ability,
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
from harness.contract.clients.client_doctored import batch, call, frame, of_client
from harness.contract.clients.client_expect import as_it_said, during, said, sent
from harness.contract.clients.error_case import Behaviour, ErrorCase, judged_case
from harness.contract.clients.error_stories import story, with_class
from harness.contract.doctored import commit, data, log
from harness.evidence.client_evidence import CallOutcome
from harness.lab.clients import ClientLab
from harness.lab.clients.error_trial import ErrorTrials
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.next_transaction import (
    SHORT,
    does_not_go_on,
    goes_on,
    next_transaction,
    told_next,
    was_written,
)
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
    with app.gate("Produce", "drop-request", at_most=None, hang_up=True, name="lost"):
        app.begin(as_="expired begin")
        app.produce(partition, "expired", as_="expired produce")
        app.abort(as_="expired abort")  # some libraries give a record up no sooner
    next_transaction(app, partition, "same", step="same")
    newer = lab.application("newer", same_id=app)
    newer.init(as_="newer init")
    next_transaction(newer, partition, "next")


def check(seen: Evidence) -> Observations:
    versions = {frame.version for frame in sent(seen, "InitProducerId", by="expired")}
    if max(versions, default=0) > OLD["InitProducerId"]:
        raise NotSeen(f"InitProducerId was sent in versions {versions}")
    for case in CASES:
        yield from judged_case(seen, case)
    late = [each.epoch for frame in during(seen, said(seen, "expired produce"), "Produce") for each in frame.batches]
    if was_written(seen, "expired") or not late:
        raise NotSeen("no record was given up")
    following = said(seen, "same begin").started
    after = [each.epoch for frame in sent(seen, "Produce", by="expired", after=following) for each in frame.batches]
    went_on = said(seen, "same commit").done and late[0] in after
    yield habit(unless(not went_on, "nothing is committed in the epoch of the lost record", otherwise="same-epoch"))
    yield from goes_on(seen)
    yield from as_it_said(seen)


def expired(outcome: CallOutcome = "refused") -> Evidence:
    """By hand: a record that was given up, what the same instance's next commit said, and a newer instance."""
    lost = (frame("Produce", 11, batch("expired"), error=None),)
    same = (frame("Produce", 11, batch("same", sequence=1)),)
    done = outcome == "done"
    written = [data(7, 0, "same"), commit(7, 0)] if done else []
    return of_client(
        call("init", by="expired", frames=(frame("InitProducerId", 2, epoch=-1),)),
        call("begin", name="expired begin", by="expired"),
        call("produce", "expired", name="expired produce", by="expired", outcome="unsure", frames=lost),
        call("abort", name="expired abort", by="expired", outcome=outcome),
        call("begin", name="same begin", by="expired", outcome=outcome),
        call("produce", "same", name="same produce", by="expired", outcome=outcome, frames=same if done else ()),
        call("commit", name="same commit", by="expired", outcome=outcome),
        *told_next("next", by="newer"),
        logs={"P1": log(*written, data(7, 1, "next"), commit(7, 1))},
    )


SOUND = story(CASES)
GOOD = both(SOUND, expired())
RETRIED = story(CASES, EndTxn_59=Behaviour.RETRIED)
STUCK = story(CASES, EndTxn_59=Behaviour.STUCK)

REQUIREMENT = Requirement(
    id="KIP360-CLI-05",
    source=Source(360, "Compatibility, Deprecation, and Migration Plan"),
    statement="Where InitProducerId v3 is missing, lost records and identities end an instance; a new one goes on.",
    needs=(TRANSACTIONS, Ability("giving-up")),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-fatal", both(RETRIED, expired())),
        Refusal("stuck", both(STUCK, expired())),
        Refusal("class-is-not-so", both(with_class(SOUND, CASES[0], Behaviour.FATAL, says="abortable"), expired())),
        does_not_go_on(GOOD),
        Refusal("same-epoch", both(SOUND, expired("done"))),
        Refusal("lost", GOOD.with_log("P1", committed=SOUND.log("P1").committed)),
    ),
    refuted_by=(
        LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal"),
        OtherClient(client="kafkajs:2.2.4", anomaly="same-epoch"),
        LyingClient(lie="aborts-instead", anomaly="lost"),
    ),
)
