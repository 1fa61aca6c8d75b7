"""KIP98-CLI-01: an end whose answer is lost is found out about, and is what the application is told.

No id of the catalogue asks this of every client. KIP-98, "Transactional Guarantees", promises all or nothing of a
transaction's records. That the end may be asked for again is Kafka's (``TransactionCoordinator.endTransaction`` answers
a repetition with success), of the new protocol KIP-890's "Bump Epoch".
The coordinator has decided, and the connection ends in place of its answer: a commit that is reported as refused would
let the application do its work a second time.
"""

from typing import Literal

from harness.contract import Evidence, LyingClient, Observations, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client, without_frames
from harness.contract.clients.client_expect import as_it_said, said
from harness.contract.doctored import abort, commit, data, log
from harness.evidence.client_evidence import CallOutcome
from harness.evidence.requirement_evidence import Batch
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.lost_ends import finds_out, really_ended
from suites.clients.forms.next_transaction import does_not_go_on, goes_on, next_transaction, told_next

PROTOCOLS: dict[str, Literal[1] | None] = {"newest": None, "old": 1}


def stimulus(lab: ClientLab) -> None:
    partition = lab.partition("P1")
    for name, protocol in PROTOCOLS.items():
        app = lab.application(name, protocol=protocol)
        app.init()
        for end in ("commit", "abort"):
            app.begin(as_=f"{name} {end} begin")
            app.produce(partition, f"{name} {end}", as_=f"{name} {end} produce")
            with app.gate("EndTxn", "drop-response", hang_up=True, name=f"{name} {end} lost"):
                ask = app.commit if end == "commit" else app.abort
                ended = ask(as_=f"{name} {end}")
            if not ended.done and not ask(as_=f"{name} {end} again").done and end == "commit":
                app = lab.application(f"{name} anew", same_id=app, protocol=protocol)  # so that an abort can be lost
                app.init()
        next_transaction(app, partition, f"{name} next", step=f"{name} next")


def check(seen: Evidence) -> Observations:
    for name in PROTOCOLS:
        for end in ("commit", "abort"):
            step = f"{name} {end}"
            yield from really_ended(seen, said(seen, step))
            yield from finds_out(seen, step, step)
        yield from goes_on(seen, step=f"{name} next")
    yield from as_it_said(seen)


def story(answered: bool = True, **outcomes: CallOutcome) -> Evidence:
    """By hand: both protocols; ``newest_commit="refused"`` changes what one end, and its repetition, said.

    :param answered: Whether the EndTxn that is sent again gets its answer.
    """
    told: list[Told] = []
    written: list[Batch] = []
    for name in PROTOCOLS:
        for end, marker in (("commit", commit), ("abort", abort)):
            step = f"{name} {end}"
            outcome = outcomes.get(step.replace(" ", "_"), "done")
            again = frame("EndTxn", 5, epoch=0, error=0 if answered else None)
            ends = (frame("EndTxn", 5, epoch=0, error=None), again)
            sent = (frame("Produce", 12, batch(step)),)
            told += [
                call("begin", name=f"{step} begin", by=name),
                call("produce", step, name=f"{step} produce", by=name, frames=sent),
                call(end, name=step, by=name, outcome=outcome, frames=ends),
            ]
            if outcome != "done":
                told.append(call(end, name=f"{step} again", by=name, outcome=outcome))
            written += [data(7, 0, step), marker(7, 1)]
        told += told_next(f"{name} next", step=f"{name} next", by=name)
        written += [data(7, 2, f"{name} next"), commit(7, 3)]
    return of_client(*told, logs={"P1": log(*written)})


GOOD = story()
SHOWN = GOOD.log("P1").committed

REQUIREMENT = Requirement(
    id="KIP98-CLI-01",
    source=Source(98, "Transactional Guarantees; 5.1 EndTxnRequest"),
    statement="After the answer to EndTxn was lost, commit and abort say what the coordinator decided.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("done-without-an-answer", story(answered=False)),
        Refusal("done-without-an-answer", without_frames(GOOD, "EndTxn")),
        Refusal("committed-and-refused", story(newest_commit="refused")),
        Refusal("never-told", story(old_commit="unsure")),
        does_not_go_on(GOOD, step="old next"),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=(*SHOWN, "old abort"))),
        Refusal("lost", GOOD.with_log("P1", committed=SHOWN[1:])),
        Refusal("written-twice", GOOD.with_log("P1", committed=(*SHOWN, SHOWN[0]))),
    ),
    refuted_by=(
        LyingClient(lie="says-done-early", anomaly="done-without-an-answer"),
        LyingClient(lie="aborts-instead", anomaly="lost"),
        LyingClient(lie="writes-again", anomaly="written-twice"),
    ),
)
