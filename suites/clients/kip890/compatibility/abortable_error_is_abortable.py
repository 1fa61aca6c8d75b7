"""KIP890-COMPAT-08: a client that is told TRANSACTION_ABORTABLE aborts, and goes on.

The gate answers AddPartitionsToTxn for one partition in the coordinator's place and does not forward it, so that a real
leader refuses the record: with TRANSACTION_ABORTABLE (120) from Produce 11 on, with INVALID_TXN_STATE (48) below
(KIP-890, "New Clients"; ``KafkaApis.handleProduceRequest``). The old protocol is spoken, for in the new one nobody
adds. That nothing of the record is committed is asked of every client. That it goes on after the abort is the KIP's
promise of error 120, which is made for its clients; 48 is «abortable on the Java client and fatal on librdkafka».
"""

from harness.contract import (
    Evidence,
    LyingClient,
    NotSeen,
    Observations,
    Offers,
    OtherClient,
    Refusal,
    Requirement,
    Setting,
    Source,
    habit,
)
from harness.contract.clients.client_doctored import Told, call, frame, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, failed, said, sent, succeeded
from harness.contract.clients.spoken_stories import begin, started, told, write
from harness.contract.doctored import PRODUCER, abort, commit, data, log
from harness.contract.expect import agree, unless
from harness.contract.refuters import VERIFICATION
from harness.evidence.client_evidence import Classification
from harness.lab.clients import ClientLab
from harness.lab.clients.transact import begun, ended, transact
from suites.clients.forms.error_requirement import LIES

ABORTABLE, INVALID_TXN_STATE, FROM = 120, 48, 11
NAME = "unadded"


def stimulus(lab: ClientLab) -> None:
    """One partition is added and written to; the other one's addition never comes to the coordinator."""
    added, unadded = lab.partition("P1"), lab.partition("P2")
    app = lab.application(protocol=1)
    app.init()
    begun(app, NAME, added)
    with app.refused("AddPartitionsToTxn", 0, times=None):
        app.produce(unadded, f"{NAME} P2", as_=f"{NAME} refused")
    ended(app, NAME)
    if not transact(app, "again", added).done:
        newer = lab.application("newer", same_id=app, protocol=1)
        newer.init()
        transact(newer, "anew", added)


def check(seen: Evidence) -> Observations:
    """The record fails; where the commit does, as it must, abort and next transaction are the same instance's."""
    refused = said(seen, f"{NAME} refused")
    codes = {code for frame in sent(seen, "Produce", by="app", after=refused.started) for code in frame.errors if code}
    versions = {frame.version for frame in sent(seen, "Produce", by="app")}
    if not codes & {ABORTABLE, INVALID_TXN_STATE}:
        yield unless(refused.outcome != "done", "a record of a partition that was not added fails", otherwise="taken")
        raise NotSeen(f"no leader refused the record for its partition: {sorted(codes)}")
    yield failed(refused, otherwise="taken")
    promised = min(versions) >= FROM
    if not said(seen, f"{NAME} end").done:
        for name, otherwise in ((f"{NAME} abort", "not-aborted"), ("again end", "not-abortable")):
            observation = succeeded(said(seen, name), otherwise=otherwise)
            yield observation if promised else habit(observation)
    if refused.error is not None and refused.error.classification is not None and promised:
        what = f"class of {sorted(codes)} in Produce v{min(versions)}"
        yield agree(what, refused.error.classification, "abortable", otherwise="class-is-not-so")
    yield from as_it_said(seen)


def _good(*, says: Classification = "abortable", taken: bool = False, committed: bool = False) -> Evidence:
    sent_ = (
        frame("AddPartitionsToTxn", 3, epoch=0, by_gate=True),
        frame("Produce", FROM, error=ABORTABLE, epoch=0),
    )
    refused = call(
        "produce",
        "unadded P2",
        name="unadded refused",
        outcome="done" if taken else "refused",
        says=says,
        frames=sent_,
    )
    calls: list[Told] = [started(1), begin(NAME), write(NAME, new=False, epoch=0), refused]
    calls += [
        call("commit", name="unadded end", outcome="done" if committed else "refused", says="abortable"),
        call("abort", name="unadded abort"),
        *told("again", new=False, epoch=1),
    ]
    first = commit(PRODUCER, 0) if committed else abort(PRODUCER, 0)
    batches = [data(PRODUCER, 0, "unadded P1"), first, data(PRODUCER, 1, "again P1"), commit(PRODUCER, 1)]
    return of_client(*calls, logs={"P1": log(*batches), "P2": log()})


GOOD = _good()

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-08",
    source=Source(890, "Public Interfaces: TRANSACTION_ABORTABLE; Compatibility: New Clients"),
    statement="After TRANSACTION_ABORTABLE a client cannot commit; it aborts, and its next transaction commits.",
    needs=(Offers("EndTxn", 0), Offers("Produce", FROM)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("taken", _good(taken=True)),
        Refusal("committed-without-a-record", _good(committed=True)),
        Refusal("not-aborted", with_call(GOOD, "unadded abort", outcome="refused")),
        Refusal("not-abortable", with_call(GOOD, "again end", outcome="refused")),
        Refusal("class-is-not-so", _good(says="fatal")),
        Refusal("aborted-is-shown", GOOD.with_log("P1", committed=("unadded P1", "again P1"))),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        Setting(key=VERIFICATION, value="false", anomaly="taken"),
        LyingClient(lie="commits-after-refused-record", anomaly="committed-without-a-record"),
        LyingClient(lie="misclassifies", anomaly="class-is-not-so"),
        OtherClient(client="kafka-python:3.0.12", anomaly="not-aborted"),
        *LIES,
    ),
)
