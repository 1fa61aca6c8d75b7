"""What a search for an order leaves out changes no verdict, and saves what it is meant to save."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

import pytest
from msgspec.structs import replace

from harness.judge.order_searches import FIRST
from harness.model.model_requests import AddPartitionsAsked, ModelAnswer, ProduceAsked, TxnOffsetCommitAsked
from harness.model.model_state import NONE
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, UNDEFENDED, ProtocolProfile
from harness.model.traces.configuration import Configuration
from harness.model.traces.step_order import StepOrder
from harness.model.traces.trace_check import Explained, check_trace
from harness.model.traces.trace_parts import parts_of
from harness.model.traces.traced_request import TracedRequest
from suites.model.random_traces import TraceWalk, with_answer
from suites.model.traces_by_hand import NEVER, PRODUCER, TID, asked, end, init, verdict

EVERY = 500_000
"""Configurations that are enough for every order."""


def without_told_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches know nothing of epochs from now on."""
    monkeypatch.setattr("harness.model.traces.trace_check.told_epoch", lambda *_: None)


def without_told_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches know nothing of sequences from now on."""
    monkeypatch.setattr("harness.model.traces.trace_check.told_writes", lambda *_: {})


def in_every_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches try steps that make no difference to each other in every order."""

    def after(order: StepOrder, one: Configuration) -> Iterator[Configuration]:
        for step in (*order.steps.of_coordinator(one, order.now), *order.steps.of_partitions(one)):
            yield step.after

    monkeypatch.setattr(StepOrder, "after", after)


def lost_transaction(at: float, epoch: int, *partitions: str) -> Iterator[TracedRequest]:
    """A client of the old protocol adds partitions and writes to them; nothing is answered, and it repeats all."""
    for name in partitions:
        adds = AddPartitionsAsked(
            id=TID, version=3, producer_id=PRODUCER, epoch=epoch, partitions=frozenset((name,))
        )  # fmt: skip
        writes = ProduceAsked(id=TID, version=11, partition=name, producer_id=PRODUCER, epoch=epoch, sequence=0)
        yield replace(asked(adds, at), copies=2)
        yield replace(asked(writes, at), copies=3)


def test_a_far_epoch_is_found_among_many_lost_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when brokers were down: each lost request may come at any time, and only the lost inits matter."""
    lost = [*lost_transaction(2, 0, "A", "B", "C"), end(3, 0, None, commit=False)]
    trace = [init(1, 0), *lost, replace(init(4, None), copies=4), init(9, 5)]
    assert verdict(*trace, timeout_ms=NEVER, most=200).explained is Explained.YES
    without_told_epochs(monkeypatch)
    assert verdict(*trace, timeout_ms=NEVER, most=200).explained is Explained.GIVEN_UP


def test_no_time_out_is_tried_before_what_can_only_be_done_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Side by side partitions are added, which is done, and written to, which is refused: the transaction timed out."""
    told = {AddPartitionsAsked: ModelAnswer(), ProduceAsked: ModelAnswer("INVALID_PRODUCER_EPOCH")}
    both = [
        replace(one, copies=1, answer=told[type(one.request)], answered=3 + 0.1 * place)
        for place, one in enumerate(lost_transaction(2, 0, "A", "B", "C", "D"))
    ]
    trace = [init(1, 0), *both, init(9, 2)]
    assert verdict(*trace, most=500).explained is Explained.YES
    without_told_epochs(monkeypatch)
    assert verdict(*trace, most=500).explained is Explained.GIVEN_UP


def _with_another_epoch(trace: Sequence[TracedRequest]) -> Iterator[Sequence[TracedRequest]]:
    """The last answer that tells an epoch tells the next one, and the one before."""
    told = [place for place, one in enumerate(trace) if one.answer is not None and one.answer.epoch >= 0]
    for place in told[-1:]:
        answer = trace[place].answer
        assert answer is not None
        for by in (1, -1):
            yield with_answer(trace, place, replace(answer, epoch=answer.epoch + by))


def asking_all_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches ask of dead requests too when they come."""
    monkeypatch.setattr("harness.model.traces.trace_check.is_dead", lambda *_: False)
    monkeypatch.setattr("harness.model.traces.trace_steps.will_be_refused", lambda *_, **__: False)


def refused_beside_lost(at: float, epoch: int) -> Iterator[TracedRequest]:
    """A client of the old protocol writes to three partitions and loses most of it; the transaction timed out."""
    yield from lost_transaction(at, epoch, "A", "B", "C")
    for place, name in enumerate(("A", "B", "C")):
        for sequence in (1, 2):
            request = ProduceAsked(
                id=TID, version=11, partition=name, producer_id=PRODUCER, epoch=epoch, sequence=sequence
            )  # fmt: skip
            answer = ModelAnswer("INVALID_PRODUCER_EPOCH") if sequence == 2 else None
            yield replace(asked(request, at, answer), answered=answer and at + 5 + 0.1 * place)


def test_lost_writes_of_epochs_that_are_over_are_not_asked_when_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = [init(1, 0), *refused_beside_lost(2, 0), init(9, 2), *refused_beside_lost(10, 2), init(19, 4)]
    few = verdict(*trace)
    asking_all_requests(monkeypatch)
    many = verdict(*trace)
    assert few.explained is many.explained is Explained.YES
    assert few.configurations < many.configurations


@pytest.mark.parametrize("plainly", [without_told_epochs, without_told_writes, asking_all_requests, in_every_order])
@pytest.mark.parametrize("profile", [NEWEST, OLD_PROTOCOL, UNDEFENDED], ids=["new", "old", "undefended"])
def test_what_a_search_leaves_out_changes_no_verdict(
    profile: ProtocolProfile, plainly: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = [TraceWalk(Random(seed).choice, profile).walked(25) for seed in range(120)]
    doubtful = [*traces, *(changed for trace in traces for changed in _with_another_epoch(trace))]
    straight = [check_trace(trace, profile).explained for trace in doubtful]
    plainly(monkeypatch)
    with_all = [check_trace(trace, profile, most=EVERY).explained for trace in doubtful]
    assert straight == with_all
    assert {*with_all} == {Explained.YES, Explained.NO}


def _with_another_error(trace: Sequence[TracedRequest], choose: Random) -> Sequence[TracedRequest]:
    """One of the answers to a write is another one."""
    told = [at for at, one in enumerate(trace) if one.answer is not None and isinstance(one.request, ProduceAsked)]
    if not told:
        return trace
    errors = ("NONE", "INVALID_PRODUCER_EPOCH", "INVALID_TXN_STATE", "OUT_OF_ORDER_SEQUENCE_NUMBER")
    return with_answer(trace, choose.choice(told), ModelAnswer(choose.choice(errors)))


@pytest.mark.parametrize("timeout_ms", [0, 8, NEVER])
@pytest.mark.parametrize("profile", [NEWEST, OLD_PROTOCOL, UNDEFENDED], ids=["new", "old", "undefended"])
def test_the_order_of_steps_changes_no_verdict_on_writes(
    profile: ProtocolProfile, timeout_ms: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = {seed: TraceWalk(Random(seed).choice, profile).walked(22) for seed in range(40)}
    doubtful = [_with_another_error(walk, Random(seed)) for seed, walk in walks.items()]
    straight = [check_trace(trace, profile, timeout_ms=timeout_ms) for trace in doubtful]
    in_every_order(monkeypatch)
    with_all = [check_trace(trace, profile, timeout_ms=timeout_ms, most=EVERY) for trace in doubtful]
    assert [(one.explained, one.prefix, one.allowed) for one in straight] == [
        (one.explained, one.prefix, one.allowed) for one in with_all
    ]
    assert {one.explained for one in with_all} == {Explained.YES, Explained.NO}


@pytest.mark.parametrize("profile", [NEWEST, OLD_PROTOCOL, UNDEFENDED], ids=["new", "old", "undefended"])
def test_what_is_explained_is_explained_from_each_partition(profile: ProtocolProfile) -> None:
    seen = 0
    for seed in range(200):
        for part in parts_of(TraceWalk(Random(seed).choice, profile).walked(25), profile):
            seen += len(part.requests) < len(part.originals) or part.requests != part.originals
            assert check_trace(part.requests, profile).explained is Explained.YES, seed
    assert seen > 100


def wide_transaction(at: float, writes: int, *, sequence: int) -> Iterator[TracedRequest]:
    """A client of the new protocol writes so often to each of eight partitions; only its last write is answered."""
    for name in "ABCDEFGH":
        for number in range(writes):
            request = ProduceAsked(
                id=TID, version=12, partition=name, producer_id=PRODUCER, epoch=0, sequence=number
            )  # fmt: skip
            yield asked(request, at)
    told = ProduceAsked(id=TID, version=12, partition="A", producer_id=PRODUCER, epoch=0, sequence=sequence)
    yield asked(told, at + 1, ModelAnswer())


def test_a_write_behind_lost_ones_is_found_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the lost ones must have come, and those of other partitions need not."""
    trace = [init(1, 0), *wide_transaction(2, 5, sequence=5), end(9, 0)]
    assert verdict(*trace, timeout_ms=NEVER, most=200).explained is Explained.YES
    without_told_writes(monkeypatch)
    assert verdict(*trace, timeout_ms=NEVER, most=200).explained is Explained.GIVEN_UP


def test_what_is_too_much_for_the_whole_is_decided_by_one_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost init may end the transaction at any time, so that it matters what was written elsewhere before it."""
    trace = [init(1, 0), init(1.5, None), *wide_transaction(2, 1, sequence=2), end(9, 0)]
    decided = verdict(*trace, timeout_ms=NEVER, most=2_000)
    assert decided.explained is Explained.NO
    assert decided.prefix == (trace[0], trace[-2])
    monkeypatch.setattr("harness.model.traces.trace_check.parts_of", lambda *_: [])
    assert verdict(*trace, timeout_ms=NEVER, most=2_000).explained is Explained.GIVEN_UP


def test_a_marker_ends_a_group_whose_partition_was_added_by_its_name() -> None:
    adds = AddPartitionsAsked(id=TID, version=5, producer_id=PRODUCER, epoch=0, partitions=frozenset({"group"}))
    offsets = TxnOffsetCommitAsked(id=TID, version=5, producer_id=PRODUCER, epoch=0, offset=0, group="group")
    trace = [init(1, 0), asked(adds, 2), asked(offsets, 3, ModelAnswer()), end(4, 0), init(5, 2)]
    assert verdict(*trace).explained is Explained.YES


def test_a_write_of_no_transaction_is_accepted_in_an_epoch_that_its_coordinator_has_left() -> None:
    """Its leader asks nobody."""
    beside = [
        ProduceAsked(
            id=TID, version=12, partition="A", producer_id=PRODUCER, epoch=0, sequence=number, transactional=False
        )
        for number in range(3)
    ]
    writes = [asked(beside[0], 3, ModelAnswer()), asked(beside[1], 4), asked(beside[2], 5, ModelAnswer())]
    assert verdict(init(1, 0), init(2, 1), *writes).explained is Explained.YES
    assert verdict(init(1, 0), init(2, 1), writes[0], writes[2]).explained is Explained.NO


@pytest.mark.parametrize("profile", [NEWEST, OLD_PROTOCOL, UNDEFENDED], ids=["new", "old", "undefended"])
def test_where_answers_are_lost_the_rest_is_explained(profile: ProtocolProfile) -> None:
    """As where a link to a broker loses what it carries: mostly by the first of both searches."""
    walks = {seed: TraceWalk(Random(seed).choice, profile).walked(60) for seed in range(60)}
    left = [_with_half_lost(walk, Random(seed)) for seed, walk in walks.items()]
    found = Counter(check_trace(trace, profile, most=FIRST).explained for trace in left)
    assert found[Explained.NO] == 0
    assert found[Explained.YES] >= 0.9 * len(walks)


def _with_half_lost(trace: Sequence[TracedRequest], choose: Random) -> Sequence[TracedRequest]:
    return [one if _tells_an_id(one) or choose.random() < 0.5 else _lost(one) for one in trace]


def _tells_an_id(one: TracedRequest) -> bool:
    """Without such an answer nobody would know what later requests name."""
    return one.answer is not None and one.answer.producer_id != NONE


def _lost(one: TracedRequest) -> TracedRequest:
    return replace(one, answer=None, answered=None)
