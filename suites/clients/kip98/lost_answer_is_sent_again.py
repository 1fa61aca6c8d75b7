"""KIP98-CLI-02: a Produce whose answer is lost is sent again with the same sequence, and its records are there once.

No id of the catalogue asks this of every client. KIP-98, "Idempotent Producer Guarantees": the broker keeps the last
sequences of a producer, so that what is sent again is not appended again. Tried with a transaction and without one.
"""

from harness.contract import Evidence, LyingClient, Observations, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import batch, call, frame, of_client
from harness.contract.clients.client_expect import as_it_said
from harness.contract.doctored import commit, data, log
from harness.evidence.client_evidence import CallOutcome, ProducedBatch
from harness.lab.clients import Application, ClientLab
from harness.lab.partition import Partition
from suites.clients.forms.error_requirement import TRANSACTIONS
from suites.clients.forms.lost_answers import sent_again

STEPS = ("transactional", "idempotent")


def stimulus(lab: ClientLab) -> None:
    partition = lab.partition("P1")
    plain = lab.application("idempotent", transactional=False, delivery_timeout_ms=20_000)
    lost(plain, partition)
    app = lab.application("transactional", delivery_timeout_ms=20_000)
    app.init()
    app.begin()
    lost(app, partition)
    if not app.commit(as_="commit").done:
        app.abort(as_="abort after commit")


def lost(app: Application, partition: Partition) -> None:
    """The leader has appended; the connection ends in place of its answer."""
    with app.gate("Produce", "drop-response", hang_up=True, name=f"{app.name} lost"):
        app.produce(partition, f"{app.name} a", as_=app.name)
    app.produce(partition, f"{app.name} b", as_=f"{app.name} after")


def check(seen: Evidence) -> Observations:
    for step in STEPS:
        yield from sent_again(seen, step)
    yield from as_it_said(seen)


def story(*again: ProducedBatch, outcome: CallOutcome = "done") -> Evidence:
    """By hand: what the transactional one sent again."""
    plain = (
        frame("Produce", 12, batch("a", producer_id=8), error=None),
        frame("Produce", 12, batch("a", producer_id=8)),
    )
    tries = (frame("Produce", 12, batch("a"), error=None), *(frame("Produce", 12, each) for each in again))
    written = [data(8, 0, f"idempotent {value}", transactional=False) for value in "ab"]
    return of_client(
        call("produce", "idempotent a", name="idempotent", by="idempotent", frames=plain),
        call("produce", "idempotent b", name="idempotent after", by="idempotent"),
        call("begin", by="transactional"),
        call("produce", "transactional a", name="transactional", by="transactional", outcome=outcome, frames=tries),
        call("produce", "transactional b", name="transactional after", by="transactional"),
        call("commit", by="transactional"),
        logs={"P1": log(*written, data(7, 0, "transactional a"), data(7, 0, "transactional b"), commit(7, 1))},
    )


GOOD = story(batch("a"))
SHOWN = GOOD.log("P1").committed

REQUIREMENT = Requirement(
    id="KIP98-CLI-02",
    source=Source(98, "Idempotent Producer Guarantees"),
    statement="After the answer to Produce was lost the same batch is sent again, and its records are there once.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-retried", story()),
        Refusal("not-retried", story(batch("a"), outcome="unsure")),
        Refusal("another-sequence", story(batch("a", sequence=1))),
        Refusal("written-twice", GOOD.with_log("P1", committed=(*SHOWN, SHOWN[0]))),
        Refusal("lost", GOOD.with_log("P1", committed=SHOWN[:-1])),
    ),
    refuted_by=(
        LyingClient(lie="writes-again", anomaly="written-twice"),
        LyingClient(lie="writes-again", anomaly="another-sequence"),
        LyingClient(lie="loses-records", anomaly="lost"),
    ),
)
