"""KIP691-J-19: a commit that timed out may only be committed again; the transaction is committed once.

Java refuses ``abortTransaction`` then (``IllegalStateException``: ``handleCachedTransactionRequestResult`` of its
``TransactionManager``), and ``commitTransaction`` again waits for the same end. Both ways are tried: EndTxn never comes
to the coordinator, and it comes and its answers are lost, so that the transaction is committed all the same.
"""

from harness.contract import Evidence, LyingClient, Observations, OtherClient, Refusal, Requirement, Source, habit
from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client, with_frames
from harness.contract.clients.client_expect import as_it_said, failed, said
from harness.contract.doctored import commit, data, log
from harness.evidence.client_evidence import CallOutcome
from harness.lab.clients import Application, ClientLab
from harness.lab.clients.client_lab import Settings
from harness.lab.partition import Partition
from harness.lab.powers.request_gate import GateAction
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.lost_ends import finds_out, really_ended
from suites.clients.forms.next_transaction import next_transaction

TIMES: Settings = {"request_timeout_ms": 1_500, "delivery_timeout_ms": 6_000, "block_ms": 4_000}
LOST: dict[str, GateAction] = {"request": "drop-request", "answer": "drop-response"}


def stimulus(lab: ClientLab) -> None:
    partition = lab.partition("P1")
    for what, action in LOST.items():
        app = lab.application(what, **TIMES)
        app.init()
        timed_out(app, partition, what, action)


def timed_out(app: Application, partition: Partition, what: str, action: GateAction) -> None:
    """The commit's EndTxn or its answers are lost for as long as it may wait; then abort, and commit again."""
    app.begin(as_=f"{what} begin")
    app.produce(partition, what, as_=f"{what} produce")
    with app.gate("EndTxn", action, at_most=None, name=f"{what} lost"):
        app.commit(as_=f"{what} commit")
        aborted = app.abort(as_=f"{what} abort")
    if not aborted.done:
        app.commit(as_=f"{what} commit again")
    next_transaction(app, partition, f"{what} next", step=f"{what} next")


def check(seen: Evidence) -> Observations:
    for what in LOST:
        first = said(seen, f"{what} commit")
        yield from really_ended(seen, first)
        yield habit(failed(said(seen, f"{what} abort"), otherwise="abort-instead"))
        yield from finds_out(seen, f"{what} commit", what)
    yield from as_it_said(seen)


def story(**outcomes: CallOutcome) -> Evidence:
    """By hand: one way after the other; ``request_abort="done"`` changes one answer."""
    told: list[Told] = []
    for what in LOST:
        ways: dict[str, CallOutcome] = {"commit": "unsure", "abort": "refused", "commit_again": "done"}
        ways |= {name.removeprefix(f"{what}_"): value for name, value in outcomes.items() if name.startswith(what)}
        end = (frame("EndTxn", 5, epoch=0, error=None, committed=True),)
        told += [
            call("begin", name=f"{what} begin", by=what),
            call("produce", what, name=f"{what} produce", by=what, frames=(frame("Produce", 12, batch(what)),)),
            call("commit", name=f"{what} commit", by=what, outcome=ways["commit"], frames=end),
            call("abort", name=f"{what} abort", by=what, outcome=ways["abort"]),
            call("commit", name=f"{what} commit again", by=what, outcome=ways["commit_again"]),
        ]
    written = [batch_ for what in LOST for batch_ in (data(7, 0, what), commit(7, 1))]
    return of_client(*told, logs={"P1": log(*written)})


GOOD = story()
LATE = with_frames(story(request_commit="done"), "EndTxn", request={})
UNKNOWN = story(request_commit_again="unsure").with_log("P1", committed=("answer",))

REQUIREMENT = Requirement(
    id="KIP691-J-19",
    source=Source(691, "Proposed Changes: timeout exception within commit/abort"),
    statement="After a commit timed out abort is refused, commit again completes, and it is committed once.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("done-without-an-answer", LATE),
        Refusal("abort-instead", story(request_abort="done").with_log("P1", committed=("answer",))),
        Refusal("committed-and-refused", story(request_commit="refused", request_commit_again="refused")),
        Refusal("never-told", UNKNOWN),
        Refusal("lost", GOOD.with_log("P1", committed=("answer",))),
        Refusal("written-twice", GOOD.with_log("P1", committed=("request", "answer", "answer"))),
    ),
    refuted_by=(
        OtherClient(client="franz-go:1.22.2", anomaly="aborted-is-shown"),
        OtherClient(client="kafka-python:3.0.12", anomaly="committed-and-refused"),
        OtherClient(client="kafka-python:3.0.12", anomaly="never-told"),
        LyingClient(lie="says-done-early", anomaly="done-without-an-answer"),
        LyingClient(lie="no-abort", anomaly="abort-instead"),
        LyingClient(lie="loses-records", anomaly="lost"),
    ),
)
