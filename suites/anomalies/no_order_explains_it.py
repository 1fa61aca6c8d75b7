"""The anomaly ``no-order-explains-it``: answers as no order of the requests can bring about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.base.kafka_error import KafkaError
from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.asked_request import AskedRequest
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story

WIRE: Mapping[str, Any] = {"client": "wire-v2", "protocol": "v2"}


def asked(producer_id: int, *, commit: bool) -> AskedRequest:
    """An EndTxn in the first epoch of a producer id."""
    return AskedRequest(api="EndTxn", producer_id=producer_id, epoch=0, commit=commit)


def an_epoch_is_passed_over_for_no_reason(s: Story) -> Sequence[str]:
    s.init(**WIRE)
    s.init("b", epoch=3, **WIRE)
    s.end()
    return ["no-order-explains-it"]


def a_write_is_refused_although_its_producer_is_known(s: Story) -> Sequence[str]:
    s.init(**WIRE)
    s.begin(1)
    s.produce(1, outcome=Outcome.REFUSED, error=int(KafkaError.INVALID_PRODUCER_ID_MAPPING), **WIRE)
    s.end()
    return ["no-order-explains-it"]


def an_identity_that_was_never_handed_out_is_taken(s: Story) -> Sequence[str]:
    s.init(**WIRE)
    s.ask(asked(s.pid(9), commit=True), producer_id=s.pid(9), epoch=1, **WIRE)
    s.end()
    return ["no-order-explains-it"]


def an_identity_that_was_never_handed_out_is_refused(s: Story) -> Sequence[str]:
    s.init(**WIRE)
    error = int(KafkaError.INVALID_PRODUCER_ID_MAPPING)
    s.ask(asked(s.pid(9), commit=True), outcome=Outcome.REFUSED, error=error, **WIRE)
    s.end()
    return []


def a_transaction_is_over_before_its_time(s: Story) -> Sequence[str]:
    """Refused 20 ms after its write, as if it had timed out; its coordinator tells of the timeout that it took."""
    s.init(timeout_ms=6_000, **WIRE)
    s.begin(1)
    s.produce(1, **WIRE)
    s.commit(1, control="ABORT", outcome=Outcome.REFUSED, error=int(KafkaError.PRODUCER_FENCED), **WIRE)
    s.end()
    return ["no-order-explains-it"]


def a_broker_fails_at_a_write_for_no_known_reason(s: Story) -> Sequence[str]:
    s.init(**WIRE)
    s.begin(1)
    s.produce(1, outcome=Outcome.UNSURE, error=int(KafkaError.UNKNOWN_SERVER_ERROR), **WIRE)
    s.end()
    return ["no-order-explains-it"]


def a_coordinator_fails_at_a_commit_that_a_fence_may_have_met(s: Story) -> Sequence[str]:
    s.init(**WIRE)
    s.begin(1)
    s.produce(1, **WIRE)
    s.operation("init", "b", outcome=Outcome.UNSURE, error=None, **WIRE)
    s.commit(1, outcome=Outcome.UNSURE, error=int(KafkaError.UNKNOWN_SERVER_ERROR), control=None, **WIRE)
    s.marker("ABORT", epoch=1)
    s.init("c", epoch=2, **WIRE)
    s.end()
    return []


def an_init_without_an_answer_explains_the_epoch(s: Story) -> Sequence[str]:
    s.init(**WIRE)
    s.operation("init", "b", outcome=Outcome.UNSURE, error=None, **WIRE)
    s.init("c", epoch=2, **WIRE)
    s.end()
    return []


def a_lost_commit_explains_the_refusal_of_an_abort(s: Story) -> Sequence[str]:
    s.init(**WIRE)
    s.begin(1)
    s.produce(1, **WIRE)
    s.commit(1, outcome=Outcome.UNSURE, error=None, **WIRE)
    s.init("b", epoch=2, **WIRE)
    s.end()
    return []


def end_hands_out_a_later_epoch(e: HistoryEditor) -> bool:
    """A probe's commit was answered with an epoch that does not follow its own."""
    probes = [one for one in e.history.operations if one.actor.startswith("probe-")]
    (commit,) = (one for one in probes if one.verb == "commit")
    assert commit.epoch is not None
    later = replace(commit, epoch=commit.epoch + e.rng.randint(1, 5))
    e.swap(e.history.operations, commit, later)
    e.forget(commit.transactional_id)
    return True


def end_goes_back_to_an_older_epoch(e: HistoryEditor) -> bool:
    """A probe's producer was given a later epoch than its commit was answered with."""
    probes = [one for one in e.history.operations if one.actor.startswith("probe-")]
    by = e.rng.randint(2, 9)
    for one in probes:
        if one.epoch is not None and one.verb in ("begin", "produce", "init"):
            e.swap(e.history.operations, one, replace(one, epoch=one.epoch + by))
    return True


ANOMALY = Anomaly(
    name="no-order-explains-it",
    order=230,
    definition=(
        "the answers to the wire clients of one transactional id are none that the protocol's model allows, in "
        "whatever order, and with whatever effect, the requests without an answer are taken"
    ),
    phrase="answers as no order of the requests can bring about",
    stories=(
        an_epoch_is_passed_over_for_no_reason,
        a_write_is_refused_although_its_producer_is_known,
        an_identity_that_was_never_handed_out_is_taken,
        an_identity_that_was_never_handed_out_is_refused,
        a_transaction_is_over_before_its_time,
        a_broker_fails_at_a_write_for_no_known_reason,
        a_coordinator_fails_at_a_commit_that_a_fence_may_have_met,
        an_init_without_an_answer_explains_the_epoch,
        a_lost_commit_explains_the_refusal_of_an_abort,
    ),
    plants=(Plant(change=end_hands_out_a_later_epoch), Plant(change=end_goes_back_to_an_older_epoch)),
)
