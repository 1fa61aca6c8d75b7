"""What a producer keeps decides its next request: identity, sequences of several partitions, what was added."""

import pytest

from harness.kafka.producer_state import ProducerState
from harness.kafka.transaction_protocol import V1, V2, TransactionProtocol
from harness.wire.api_names import known_versions


def producer(protocol: TransactionProtocol = V2) -> ProducerState:
    """With a producer id and epoch 7."""
    state = ProducerState(transactional_id="id", protocol=protocol)
    state.become(4711, 7)
    return state


def test_batches_of_many_records_take_as_many_sequences_of_each_partition() -> None:
    state = producer()
    first = state.produce({("t", 0): ["a", "b", "c"], ("t", 1): ["d"]})
    assert [part.batch.base_sequence for part in first.batches] == [0, 0]
    state.use_sequences(first)
    second = state.produce({("t", 1): ["e"], ("t", 0): ["f"]})
    assert [(part.partition, part.batch.base_sequence) for part in second.batches] == [(1, 1), (0, 3)]
    assert {(part.batch.producer_id, part.batch.producer_epoch) for part in second.batches} == {(4711, 7)}


def test_requests_in_flight_follow_on_each_other_once_their_sequences_are_used() -> None:
    state, sent = producer(), []
    for _ in range(5):
        sent.append(state.produce({("t", 0): ["x", "y"]}))
        state.use_sequences(sent[-1])
    assert [request.batches[0].batch.base_sequence for request in sent] == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(("identity", "sequence"), [((4711, 7), 1), ((4711, 8), 0), ((4712, 0), 0)])
def test_only_a_new_identity_begins_with_sequence_0(identity: tuple[int, int], sequence: int) -> None:
    state = producer()
    state.use_sequences(state.produce({("t", 0): ["x"]}))
    state.become(*identity)
    assert state.produce({("t", 0): ["y"]}).batches[0].batch.base_sequence == sequence


def test_v1_adds_what_it_writes_to_once_a_transaction_and_v2_adds_nothing() -> None:
    state = producer(V1)
    state.added.update([("t", 0), "group"])
    assert [state.must_add(what) for what in (("t", 0), ("t", 1), "group")] == [False, True, False]
    state.ended(-1, -1)
    assert state.must_add(("t", 0))
    assert not producer(V2).must_add(("t", 0))


def test_the_identity_that_an_end_carries_is_taken_over_and_none_changes_nothing() -> None:
    state = producer()
    state.ended(-1, -1)
    assert (state.producer_id, state.epoch) == (4711, 7)
    state.started = state.end_unknown = True
    state.ended(4711, 8)
    assert (state.producer_id, state.epoch, state.started, state.end_unknown) == (4711, 8, False, False)
    assert state.end_txn(commit=True).producer_epoch == 8


@pytest.mark.parametrize("protocol", [V1, V2], ids=lambda protocol: protocol.name)
def test_every_version_that_a_protocol_names_can_be_built(protocol: TransactionProtocol) -> None:
    for api, version in protocol.highest_versions.items():
        assert version in known_versions(api), api
