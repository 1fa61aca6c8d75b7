"""KIP691-J-24: an error of a record that comes while the transaction is being ended.

The gate answers a record's request with the error once the end was called. Java ignores it while it aborts
(``TransactionManager.maybeTransitionToErrorState``, ``isCompleting``); a commit fails, and is aborted.
"""

from harness.base.deferred_action import deferred
from harness.contract import Evidence, KafkaError, LyingClient, Observations, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, failed, said, sent, succeeded
from harness.contract.doctored import abort, commit, data, log
from harness.contract.expect import habit
from harness.evidence.client_evidence import LibraryError
from harness.evidence.requirement_evidence import NotSeen
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import LIES, TRANSACTIONS

CODE = KafkaError.INVALID_PRODUCER_EPOCH
ENDS = ("abort", "commit")
WRITTEN_MS = 50
"""Within which the gate notes that an answer was written; the client may have read it before."""
UNDER_WAY_SECONDS = 0.5
"""Until the error is sent; the check demands that the end was called before."""


def stimulus(lab: ClientLab) -> None:
    partition = lab.partition("P1")
    for end in ENDS:
        app = lab.application(f"to-{end}")
        app.init(as_="init")
        app.begin(as_="begin")
        app.produce(partition, f"{end} first", as_="first")
        with app.gate("Produce", "refuse", error=CODE, waits=True, name=f"late at {end}") as refusal:
            app.produce(partition, f"{end} late", wait=False, as_="produce")
            refusal.wait()
            with deferred(UNDER_WAY_SECONDS, refusal.release):
                (app.abort if end == "abort" else app.commit)(as_=end)
        if end == "commit":
            app.abort(as_="abort after")
        app.begin(as_="again begin")
        app.produce(partition, f"{end} again", as_="again produce")
        app.commit(as_=f"again after {end}")
        app.close()


def check(seen: Evidence) -> Observations:
    for end in ENDS:
        _late(seen, end)
    yield habit(succeeded(said(seen, "abort"), otherwise="abort-fails"))
    yield habit(failed(said(seen, "commit"), otherwise="committed-without-a-record"))
    yield habit(succeeded(said(seen, "abort after"), otherwise="abort-fails"))
    for end in ENDS:
        yield habit(succeeded(said(seen, f"again after {end}"), otherwise="not-abortable"))
    yield from as_it_said(seen)


def _late(seen: Evidence, end: str) -> None:
    """:raises NotSeen: where the error did not come between the end's call and its answer."""
    call_ = said(seen, end)
    latest = call_.answered + WRITTEN_MS
    errors = [each for each in sent(seen, "Produce", by=call_.application) if CODE in each.errors]
    if not any(each.answered is not None and call_.started < each.answered <= latest for each in errors):
        raise NotSeen(f"no error of a record came while {end} was under way")


def _told(end: str) -> tuple[Told, ...]:
    app, wrote = f"to-{end}", frame("Produce", 12, batch(f"{end} late"), error=CODE, by_gate=True)
    aborts = end == "abort"
    ended = call(end, name=end, by=app, outcome="done" if aborts else "refused", says="abortable", frames=(wrote,))
    return (
        call("begin", by=app),
        call("produce", f"{end} first", name="first", by=app),
        call("produce", f"{end} late", by=app),
        ended,
        *(() if aborts else (call("abort", name="abort after", by=app),)),
        call("begin", name="again begin", by=app),
        call("produce", f"{end} again", name="again produce", by=app),
        call("commit", name=f"again after {end}", by=app),
    )


WROTE = [
    written
    for end in ENDS
    for written in (data(7, 0, f"{end} first"), abort(7, 0), data(7, 1, f"{end} again"), commit(7, 1))
]
GOOD = of_client(*(each for end in ENDS for each in _told(end)), logs={"P1": log(*WROTE)})
SHOWN = GOOD.log("P1").committed
ALL_SHOWN = GOOD.with_log("P1", committed=(*SHOWN, *(f"commit {which}" for which in ("first", "late"))))
REFUSED = LibraryError(type="KafkaException", classification="fatal")


def _refused(name: str) -> Evidence:
    return with_call(GOOD, name, outcome="refused", error=REFUSED)


REQUIREMENT = Requirement(
    id="KIP691-J-24",
    source=Source(691, "Motivation: table of exceptions, InvalidProducerEpochException"),
    statement="An error of a record does not keep an abort from being done, and keeps a commit from it.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("abort-fails", _refused("abort")),
        Refusal("abort-fails", _refused("abort after")),
        Refusal("committed-without-a-record", with_call(ALL_SHOWN, "commit", outcome="done")),
        Refusal("not-abortable", _refused("again after abort")),
        Refusal("lost", GOOD.with_log("P1", committed=())),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=(*SHOWN, "abort first"))),
    ),
    refuted_by=(
        *LIES,
        LyingClient(lie="never-comes-back", anomaly="abort-fails"),
        LyingClient(lie="commits-after-refused-record", anomaly="committed-without-a-record"),
    ),
)
