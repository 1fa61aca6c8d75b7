"""KIP360-CLI-04: an idempotent producer without transactions bumps its epoch itself after 45, and begins at sequence 0.

KIP-360: «For the idempotent producer … the epoch is bumped locally», without InitProducerId until the epoch is used up
(32767, which is not tried: no client can be brought there). The application sees no error
(``TransactionManager.canRetry``, ``bumpIdempotentProducerEpoch``).
"""

from harness.contract import (
    Evidence,
    KafkaError,
    LyingClient,
    NotSeen,
    Observations,
    OtherClient,
    Refusal,
    Requirement,
    Source,
    agree,
    habit,
)
from harness.contract.clients.client_doctored import Told, batch, call, frame, of_client, with_call
from harness.contract.clients.client_expect import as_it_said, during, said, sent, succeeded
from harness.contract.doctored import data, log
from harness.evidence.client_evidence import ProducedBatch
from harness.lab.clients import ClientLab
from suites.clients.forms.error_requirement import SOUND_LIBRDKAFKA, TRANSACTIONS


def stimulus(lab: ClientLab) -> None:
    app, partition = lab.application(transactional=False), lab.partition("P1")
    app.produce(partition, "a", as_="before")
    with app.refused("Produce", KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER):
        app.produce(partition, "b", as_="produce")
    app.produce(partition, "c", as_="after")


def check(seen: Evidence) -> Observations:
    hit, after = said(seen, "produce"), said(seen, "after")
    tries = [batch for frame in during(seen, hit, "Produce") for batch in frame.batches]
    if not any(frame.answered_by == "gate" for frame in during(seen, hit, "Produce")):
        raise NotSeen("no batch was out of order")
    yield habit(succeeded(hit, otherwise="error-is-shown"))
    yield habit(succeeded(after, otherwise="stuck"))
    later = [*tries[1:], *(batch for frame in during(seen, after, "Produce") for batch in frame.batches)]
    if later:
        before, now = (tries[0].producer_id, tries[0].epoch + 1), (later[0].producer_id, later[0].epoch)
        yield habit(agree("producer id and epoch after it", now, before, otherwise="no-epoch-bump"))
        yield habit(agree("sequence after it", later[0].base_sequence, 0, otherwise="sequence-goes-on"))
    asked = sent(seen, "InitProducerId", after=hit.started, before=after.answered)
    yield habit(agree("requests for an identity after it", len(asked), 0, otherwise="asked-for-an-identity"))
    yield from as_it_said(seen)


def story(again: ProducedBatch, *more: Told) -> Evidence:
    """By hand: the batch that was refused is sent again as ``again``."""
    refused = frame("Produce", 12, batch("b", sequence=1), error=45, by_gate=True)
    return of_client(
        call("produce", "a", name="before", frames=(frame("Produce", 12, batch("a")),)),
        call("produce", "b", name="produce", frames=(refused, frame("Produce", 12, again))),
        *more,
        call("produce", "c", name="after", frames=(frame("Produce", 12, batch("c", epoch=1, sequence=1)),)),
        logs={"P1": log(*(data(7, 0, value, transactional=False) for value in "abc"))},
    )


BUMPED = batch("b", epoch=1)
GOOD = story(BUMPED)
ASKED = call("flush", frames=(frame("InitProducerId", 5, epoch=0),))

REQUIREMENT = Requirement(
    id="KIP360-CLI-04",
    source=Source(360, "Simplified error handling and safe epoch bumping: idempotent producer"),
    statement="After 45 an idempotent producer goes on with the next epoch and sequence 0, and asks nobody for it.",
    needs=(TRANSACTIONS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("error-is-shown", with_call(GOOD, "produce", outcome="refused")),
        Refusal("stuck", with_call(GOOD, "after", outcome="refused", deliveries=())),
        Refusal("no-epoch-bump", story(batch("b"))),
        Refusal("sequence-goes-on", story(batch("b", epoch=1, sequence=1))),
        Refusal("asked-for-an-identity", story(BUMPED, ASKED)),
        Refusal("lost", GOOD.with_log("P1", committed=("a", "c"))),
        Refusal("written-twice", GOOD.with_log("P1", committed=("a", "b", "b", "c"))),
    ),
    refuted_by=(
        LyingClient(lie="writes-again", anomaly="written-twice"),
        LyingClient(lie="tells-records-done", client=SOUND_LIBRDKAFKA, anomaly="lost"),
        OtherClient(client=SOUND_LIBRDKAFKA, anomaly="error-is-shown"),
        OtherClient(client="kafka-python:3.0.12", anomaly="asked-for-an-identity"),
        OtherClient(client="kafkajs:2.2.4", anomaly="sequence-goes-on"),
        OtherClient(client="kafkajs:2.2.4", anomaly="no-epoch-bump"),
    ),
)
