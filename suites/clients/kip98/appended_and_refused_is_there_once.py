"""KIP98-CLI-03: a Produce that was appended and answered with an error that is tried again leaves no duplicate.

No id of the catalogue asks this of every client. KIP-98, "Idempotent Producer Guarantees". So it is after
NOT_ENOUGH_REPLICAS_AFTER_APPEND (20) always, and after REQUEST_TIMED_OUT (7) and NOT_LEADER_OR_FOLLOWER (6) when the
leader had appended before it lost its followers or its place (``Partition.appendRecordsToLeader``, ``DelayedProduce``).
"""

from harness.contract import Evidence, KafkaError, LyingClient, Observations, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client
from harness.contract.clients.client_expect import as_it_said
from harness.contract.doctored import commit, data, log
from harness.evidence.client_evidence import CallOutcome
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.lost_answers import sent_again

ERRORS = {
    "after append": KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    "timed out": KafkaError.REQUEST_TIMED_OUT,
    "not leader": KafkaError.NOT_LEADER_OR_FOLLOWER,
}


def stimulus(lab: ClientLab) -> None:
    app, partition = lab.application(delivery_timeout_ms=20_000), lab.partition("P1")
    app.init()
    for step, error in ERRORS.items():
        app.begin(as_=f"{step} begin")
        with app.gate("Produce", "rewrite", error=error, name=step):
            app.produce(partition, step, as_=step)
        if not app.commit(as_=f"{step} commit").done:
            app.abort(as_=f"{step} abort")


def check(seen: Evidence) -> Observations:
    for step, error in ERRORS.items():
        yield from sent_again(seen, step, error=error)
    yield from as_it_said(seen)


def story(*, tries: int = 2, step_by: int = 0, outcome: CallOutcome = "done") -> Evidence:
    """By hand: each batch is sent so often, each time with a sequence that is higher by ``step_by``."""
    told: list[Told] = []
    for epoch, (step, error) in enumerate(ERRORS.items()):
        frames = tuple(
            frame("Produce", 12, batch(step, epoch=epoch, sequence=number * step_by), error=0 if number else error)
            for number in range(tries)
        )
        told += [
            call("begin", name=f"{step} begin"),
            call("produce", step, name=step, outcome=outcome, frames=frames),
            call("commit", name=f"{step} commit"),
        ]
    written = [each for epoch, step in enumerate(ERRORS) for each in (data(7, epoch, step), commit(7, epoch + 1))]
    return of_client(*told, logs={"P1": log(*written)})


GOOD = story()
SHOWN = tuple(ERRORS)

REQUIREMENT = Requirement(
    id="KIP98-CLI-03",
    source=Source(98, "Idempotent Producer Guarantees"),
    statement="What was appended and answered with an error that is tried again is there once.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-retried", story(tries=1)),
        Refusal("not-retried", story(outcome="unsure")),
        Refusal("another-sequence", story(step_by=1)),
        Refusal("written-twice", GOOD.with_log("P1", committed=(*SHOWN, SHOWN[0]))),
        Refusal("lost", GOOD.with_log("P1", committed=SHOWN[1:])),
    ),
    refuted_by=(
        LyingClient(lie="writes-again", anomaly="written-twice"),
        LyingClient(lie="writes-again", anomaly="another-sequence"),
        LyingClient(lie="aborts-instead", anomaly="lost"),
    ),
)
