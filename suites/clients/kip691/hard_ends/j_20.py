"""KIP691-J-20: an answer with a correlation id that no request had is no answer.

KIP-691 calls it an illegal state. Java throws ``CorrelationIdMismatchException`` inside its network thread
(``NetworkClient.parseResponse``), which no call shows; the request counts as unanswered until its time is over. What
is promised to every application stays: records are there as the client said, and a new instance goes on.
"""

from harness.contract import (
    Evidence,
    LyingClient,
    NotSeen,
    Observations,
    Refusal,
    Requirement,
    Source,
    habit,
    unless,
)
from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client
from harness.contract.clients.client_expect import as_it_said, during, said, told
from harness.contract.doctored import commit, data, log
from harness.evidence.client_evidence import CallOutcome
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.next_transaction import SHORT, does_not_go_on, goes_on, next_transaction, told_next

APIS = {"Produce": "produce", "EndTxn": "commit"}
"""Whose answer it is, and the call that waits for it."""


def stimulus(lab: ClientLab) -> None:
    partition = lab.partition("P1")
    for api in APIS:
        app = lab.application(api, **SHORT)
        app.init()
        with app.gate(api, "renumber", name=f"{api} renumbered"):
            app.begin(as_=f"{api} begin")
            app.produce(partition, api, as_=f"{api} produce")
            ended = app.commit(as_=f"{api} commit")
        if not ended.done:
            app.abort(as_=f"{api} abort")
        newer = lab.application(f"{api} anew", same_id=app)
        newer.init(as_=f"{api} anew init")
        next_transaction(newer, partition, f"{api} anew", step=f"{api} anew")


def check(seen: Evidence) -> Observations:
    for api, waits in APIS.items():
        call_ = said(seen, f"{api} {waits}")
        answers = [frame.answered_by for frame in during(seen, call_, api)]
        if "gate" not in answers:
            raise NotSeen(f"no answer to {api} was renumbered")
        own = not call_.done or "broker" in answers
        what = f"{told(call_)}; answers were given by {answers}"
        yield habit(unless(own, what, otherwise="took-a-strangers-answer"))
        yield from goes_on(seen, step=f"{api} anew")
    yield from as_it_said(seen)


def story(outcome: CallOutcome = "unsure") -> Evidence:
    """By hand: what the calls said whose answer was another's."""
    calls: list[Told] = []
    for api, waits in APIS.items():
        struck = (frame(api, 5, *((batch("a"),) if api == "Produce" else ()), by_gate=True, epoch=0),)
        produced, ended = (outcome, "done") if waits == "produce" else ("done", outcome)
        calls += [
            call("begin", name=f"{api} begin", by=api),
            call("produce", api, name=f"{api} produce", by=api, outcome=produced, frames=struck[: waits == "produce"]),
            call("commit", name=f"{api} commit", by=api, outcome=ended, frames=struck[: waits == "commit"]),  # type: ignore[arg-type]
            *told_next(f"{api} anew", step=f"{api} anew", by=f"{api} anew"),
        ]
    written = [each for api in APIS for value in (api, f"{api} anew") for each in (data(7, 0, value), commit(7, 1))]
    return of_client(*calls, logs={"P1": log(*written)})


GOOD = story()
SHOWN = GOOD.log("P1").committed

REQUIREMENT = Requirement(
    id="KIP691-J-20",
    source=Source(691, "Proposed Changes: correlation id does not match"),
    statement="An answer with a wrong correlation id is not taken for that of a request; a new instance goes on.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("took-a-strangers-answer", story("done")),
        does_not_go_on(GOOD, step="EndTxn anew"),
        Refusal("written-twice", GOOD.with_log("P1", committed=(*SHOWN, SHOWN[0]))),
        Refusal("lost", GOOD.with_log("P1", committed=SHOWN[:-1])),
    ),
    refuted_by=(
        LyingClient(lie="does-not-wait", anomaly="took-a-strangers-answer"),
        LyingClient(lie="aborts-instead", anomaly="lost"),
    ),
)
