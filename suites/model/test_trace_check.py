"""What the model may do is explained, whatever was lost, late or repeated; what it would never do is not."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.model.model_requests import (
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelAnswer,
    ProduceAsked,
)
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, UNDEFENDED, ProtocolProfile
from harness.model.traces.trace_check import Explained, check_trace
from harness.model.traces.traced_cluster import UsedId
from harness.model.traces.traced_request import TracedRequest
from suites.model.mutants.group_mutants import OF_GROUPS_AND_LISTS
from suites.model.mutants.mutant import Mutant
from suites.model.mutants.producer_mutants import OF_PRODUCERS
from suites.model.random_traces import TraceWalk, with_answer
from suites.model.traces_by_hand import NEVER, PRODUCER, TID, answered_late, asked, end, init, verdict, write

ENOUGH = 600
"""Configurations that a trace of the corpus never needs: the model finds its own within a hundred."""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), profile=st.sampled_from([NEWEST, OLD_PROTOCOL, UNDEFENDED]), calm=st.booleans())
def test_what_the_model_does_is_explained(data: st.DataObject, profile: ProtocolProfile, calm: bool) -> None:
    walk = TraceWalk(lambda several: data.draw(st.sampled_from(list(several))), profile, calm=calm)
    assert check_trace(walk.walked(20), profile).explained is Explained.YES


@pytest.mark.parametrize(
    "trace",
    [
        [init(1, 0), write(2, 0), end(3, 0), write(4, 1), end(5, 1, commit=False)],
        [init(1, None), init(2, 1)],
        [init(1, 0), write(2, 0), end(3, 0, None), end(4, 0)],
        [init(1, 0), write(2, 0, None), write(3, 0, sequence=1), end(4, 0)],
        [init(1, 0), write(2, 0), init(3, 2, who="b"), end(4, 0, "PRODUCER_FENCED")],
        [init(1, 0), write(2, 0), init(3, None, who="b"), end(4, 0, "PRODUCER_FENCED")],
        [init(1, 0), write(2, 0), end(9, 0, "INVALID_TXN_STATE")],
        [init(1, 0), answered_late(write(2, 0, "INVALID_PRODUCER_EPOCH")), init(3, 2, who="b")],
        [init(1, 0), answered_late(write(2, 0, "INVALID_TXN_STATE")), init(3, 2, who="b")],
    ],
    ids=[
        *("in order", "lost init", "lost end", "lost write", "fenced", "fenced by a lost init", "timed out"),
        *("fenced while it is verified", "the same of a leader that looks at verification first"),
    ],
)
def test_a_trace_by_hand_is_explained(trace: Sequence[TracedRequest]) -> None:
    assert verdict(*trace).explained is Explained.YES


@pytest.mark.parametrize(
    "trace",
    [
        [init(1, 0), init(2, 0)],
        [init(1, 0), write(2, 0), end(3, 0), init(4, 1)],
        [init(1, 0), write(2, 0), init(3, 2, who="b"), end(4, 0)],
        [init(1, 0), write(2, 0), end(3, 0), write(4, 1), write(5, 0, sequence=1)],
        [init(1, 0), write(2, 0), end(3, 0), end(4, 1)],
        [init(1, 0), write(2, 0, sequence=3)],
    ],
    ids=["epoch given twice", "epoch goes back", "commit after a fence", "old epoch writes", "empty commit", "gap"],
)
def test_a_trace_that_cannot_be_is_not_explained_by_its_last_answer(trace: Sequence[TracedRequest]) -> None:
    found = verdict(*trace)
    assert found.explained is Explained.NO
    assert found.prefix == tuple(trace)
    assert trace[-1].answer not in found.allowed
    assert found.allowed


def test_the_shortest_prefix_is_told_and_not_what_follows_it() -> None:
    broken = [init(1, 0), init(2, 0)]
    assert verdict(*broken, init(3, 1), init(4, 2)).prefix == tuple(broken)


def test_a_transaction_does_not_time_out_before_its_time() -> None:
    trace = [init(1, 0), write(2, 0), end(9, 0, "INVALID_TXN_STATE")]
    assert verdict(*trace, timeout_ms=7).explained is Explained.YES
    assert verdict(*trace, timeout_ms=8).explained is Explained.NO


def test_lost_requests_that_are_alike_are_searched_as_copies_of_one() -> None:
    """Of twenty lost inits it makes no difference which were done: only how many of them."""
    lost, told = [init(at, None, who=str(at)) for at in range(1, 21)], init(30, 12)
    several, one = verdict(*lost, told), verdict(replace(lost[0], copies=20), told)
    assert several.explained is Explained.YES
    assert several.configurations == one.configurations
    assert verdict(*lost[:11], told).explained is Explained.NO


def test_a_search_that_is_too_large_is_given_up_and_not_called_explained() -> None:
    trace = [*(replace(init(1, None), copies=9) for _ in range(9)), init(2, 0), init(3, 500)]
    assert verdict(*trace, most=50).explained is Explained.GIVEN_UP
    none_left = [replace(init(1, None), copies=9), init(2, 500)]
    assert verdict(*none_left, most=0).explained is Explained.GIVEN_UP
    assert verdict(*none_left).explained is Explained.NO


@pytest.mark.parametrize("error", ["NONE", "PRODUCER_FENCED", "INVALID_TXN_STATE", "INVALID_PRODUCER_ID_MAPPING"])
def test_an_answer_that_is_changed_is_noticed(corpus: Sequence[Sequence[TracedRequest]], error: str) -> None:
    for trace in corpus[10:50]:
        last = trace[-1].answer
        changed = ModelAnswer(error, epoch=77)
        assert last is not None
        assert last != changed
        assert check_trace(with_answer(trace, len(trace) - 1, changed), NEWEST).explained is Explained.NO


@pytest.fixture(scope="module")
def corpus() -> Sequence[Sequence[TracedRequest]]:
    """Traces of the right model: one request follows the other; then those that are :func:`telling`."""
    return [*telling(), *(TraceWalk(Random(seed).choice, NEWEST, calm=True).walked(12) for seed in range(160))]


def test_an_id_that_expires_is_refused_and_begins_anew_only_where_ids_expire() -> None:
    stranger = ModelAnswer(producer_id=PRODUCER + 1, epoch=0)
    forgotten = [init(1, 0), write(2, 0), end(3, 0), write(9, 1, "INVALID_PRODUCER_ID_MAPPING")]
    anew = asked(InitProducerIdAsked(id=TID, version=4), 10, stranger)
    assert verdict(*forgotten, anew, expires=True).explained is Explained.YES
    assert verdict(*forgotten).explained is Explained.NO
    within = [init(1, 0), write(2, 0), write(9, 0, "INVALID_PRODUCER_ID_MAPPING", sequence=1)]
    assert verdict(*within, expires=True, timeout_ms=NEVER).explained is Explained.NO


def old_write(at: float, sequence: int, answer: ModelAnswer, answered: float) -> TracedRequest:
    """A client of the old protocol produces, and is answered late."""
    request = ProduceAsked(id=TID, version=11, partition="A", producer_id=PRODUCER, epoch=0, sequence=sequence)
    return TracedRequest(request=request, sent=at, answer=answer, answered=answered)


def old_add(at: float) -> TracedRequest:
    """A client of the old protocol adds the partition."""
    request = AddPartitionsAsked(id=TID, version=3, producer_id=PRODUCER, epoch=0, partitions=frozenset("A"))
    return asked(request, at, ModelAnswer())


def old_abort(at: float) -> TracedRequest:
    """A client of the old protocol aborts."""
    return asked(EndTxnAsked(id=TID, version=3, producer_id=PRODUCER, epoch=0, commit=False), at, ModelAnswer())


def telling() -> Sequence[Sequence[TracedRequest]]:
    """Traces of the right model in which requests overlap, repeat, or come from nobody."""
    late = old_write(3, 0, ModelAnswer("INVALID_TXN_STATE"), 9)
    busy = asked(InitProducerIdAsked(id=TID, version=4), 3, ModelAnswer("CONCURRENT_TRANSACTIONS"))
    claim = InitProducerIdAsked(id=TID, version=4, producer_id=PRODUCER, epoch=0)
    claimed = asked(claim, 4, ModelAnswer(producer_id=PRODUCER, epoch=1))
    later, sooner = old_write(3, 0, ModelAnswer(), 9), old_write(4, 1, ModelAnswer("OUT_OF_ORDER_SEQUENCE_NUMBER"), 6)
    return (
        [init(1, 0), old_add(2), late, old_abort(5)],
        [init(1, 0), old_add(2), later, sooner],
        [init(1, 0), write(2, 0), write(3, 0, sequence=1), write(4, 0)],
        [init(1, 0), write(2, 0), end(3, 0), write(4, 0, sequence=1)],
        [init(1, 0), write(2, 5, "INVALID_PRODUCER_EPOCH")],
        [init(1, 0), write(2, 0), busy, claimed],
        [init(1, 0), write(2, 0, "OUT_OF_ORDER_SEQUENCE_NUMBER", sequence=3)],
    )


def test_what_tells_mutants_is_explained_by_the_model(corpus: Sequence[Sequence[TracedRequest]]) -> None:
    for trace in corpus:
        assert check_trace(trace, NEWEST, timeout_ms=NEVER).explained is Explained.YES


NOT_TOLD = {
    "a marker leaves the verification": "a leader that moves loses it as well, and no client is told that one moved",
    "old epochs are asked about": "the coordinator gives the same answer as the leader",
    "a marker may have the epoch of its records": "only an operator's WriteTxnMarkers is answered so",
    "a marker of any coordinator is taken": "only an operator's WriteTxnMarkers is answered so",
}
"""Mutants that no answer to a client shows, and why; a trace has no list, and nobody asks for a group's offsets."""
OF_OFFSETS = (
    "offsets add no partition",
    "offsets are not verified",
    "offsets of a new client are not added",
    "offsets of an old client are added",
    "whoever commits offsets knows TRANSACTION_ABORTABLE",
)
TOLD = (
    *(each for each in OF_PRODUCERS if each.says not in NOT_TOLD),
    *(each for each in OF_GROUPS_AND_LISTS if each.says in OF_OFFSETS),
)


@pytest.mark.parametrize("mutant", TOLD, ids=lambda each: each.says)
def test_a_trace_tells_a_mutant_from_the_model(corpus: Sequence[Sequence[TracedRequest]], mutant: Mutant) -> None:
    with mutant.in_force():
        verdicts = (check_trace(trace, NEWEST, timeout_ms=NEVER, most=ENOUGH) for trace in corpus)
        assert any(one.explained is Explained.NO for one in verdicts)


LAST = 32_766
"""The last epoch that a client is given."""


def other_id(one: TracedRequest) -> TracedRequest:
    """Answered with epoch 0 of another producer id."""
    return replace(one, answer=ModelAnswer(producer_id=PRODUCER + 1, epoch=0))


def test_an_id_that_was_used_before_goes_on_in_its_epoch_and_then_with_another_producer_id() -> None:
    used = UsedId(TID, PRODUCER, LAST - 2)
    counted = [init(1, LAST - 1), init(2, LAST), other_id(init(3, 0))]
    assert check_trace(counted, NEWEST, used=used).explained is Explained.YES
    assert check_trace(counted, NEWEST).explained is Explained.NO
    assert check_trace(counted[1:], NEWEST, used=used).explained is Explained.NO
    assert check_trace([counted[0], other_id(init(2, 0))], NEWEST, used=used).explained is Explained.NO
    assert check_trace([init(1, LAST - 1), init(2, LAST), init(3, 0)], NEWEST, used=used).explained is Explained.NO


def test_the_end_in_the_last_epoch_of_a_used_id_gives_another_producer_id() -> None:
    used = UsedId(TID, PRODUCER, LAST - 1)
    trace = [init(1, LAST), write(2, LAST), other_id(end(3, LAST))]
    assert check_trace(trace, NEWEST, used=used).explained is Explained.YES
    assert check_trace([*trace[:2], end(3, LAST)], NEWEST, used=used).explained is Explained.NO


def test_a_repeated_init_is_forgotten_by_another_coordinator_alone() -> None:
    """The last epoch is in no record (KAFKA-20357)."""
    again = InitProducerIdAsked(id=TID, version=4, producer_id=PRODUCER, epoch=0)
    answers = (ModelAnswer(producer_id=PRODUCER, epoch=1), ModelAnswer("PRODUCER_FENCED"))
    trace = [init(1, 0), *(asked(again, at, answer) for at, answer in enumerate(answers, start=2))]
    assert check_trace(trace, NEWEST).explained is Explained.YES
    kept = check_trace(trace, NEWEST, kept=True)
    assert (kept.explained, kept.allowed) == (Explained.NO, frozenset(answers[:1]))
