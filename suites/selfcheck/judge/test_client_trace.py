"""What wire clients sent for one transactional id, with the offsets of a group among it, made into a trace."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.base.kafka_error import KafkaError
from harness.judge.client_trace import COLUMNS, ClientTrace
from harness.judge.stale_brokers import StaleBrokers, StaleWindow
from harness.model.model_requests import AddOffsetsAsked, AddPartitionsAsked, ProduceAsked, TxnOffsetCommitAsked
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL
from harness.model.traces.trace_check import Explained, check_trace
from harness.wire.records.transaction_state import state_partition

NEVER = 1e9
"""A timeout that no trace reaches."""


def row(number: int, verb: str, **given: Any) -> Mapping[str, Any]:
    """An operation that was done, in epoch 0."""
    usual = {"actor": "a", "verb": verb, "outcome": "done", "reason": "", "producer_id": 7, "epoch": 0}
    times = {"started": float(number), "ended": number + 0.5}
    return {**dict.fromkeys(COLUMNS), "number": number, **usual, **times, "tries": 1, "protocol": "v2", **given}


def stale(window: tuple[float, float], *moved: str, state_partitions: int | None = None) -> StaleBrokers:
    """Brokers that may have been stale within a window: any, or those that led what has moved."""
    windows = [StaleWindow(*window, frozenset(moved) if moved else None)]
    return StaleBrokers(windows=windows, state_partitions=state_partitions)


def offsets(number: int, **given: Any) -> Mapping[str, Any]:
    """Of the group g."""
    return row(number, "send_offsets", **{"group": "g", "topic": "t", "partition": 0, **given})


def trace(*rows: Mapping[str, Any]) -> ClientTrace:
    """After an InitProducerId and the begin of a transaction."""
    protocol = rows[0]["protocol"]
    return ClientTrace.of("t", [row(1, "init", protocol=protocol), row(2, "begin", tries=0, protocol=protocol), *rows])


def test_a_new_clients_offset_is_one_request_and_an_old_ones_is_two() -> None:
    (_, new), (_, added, old) = (
        trace(offsets(3)).requests,
        trace(offsets(3, protocol="v1", tries=2)).requests,
    )
    assert isinstance(new.request, TxnOffsetCommitAsked)
    assert isinstance(added.request, AddOffsetsAsked)
    assert isinstance(old.request, TxnOffsetCommitAsked)
    assert (new.request.version, old.request.version) == (5, 4)
    assert {each.copies for each in (new, added, old)} == {1}


def test_an_old_client_adds_its_group_once_in_a_transaction() -> None:
    asked = trace(offsets(3, protocol="v1", tries=2), offsets(4, protocol="v1")).requests
    kinds = [type(each.request).__name__ for each in asked[1:]]
    assert kinds == ["AddOffsetsAsked", "TxnOffsetCommitAsked", "TxnOffsetCommitAsked"]


def test_a_try_without_an_answer_may_have_been_appended_at_any_time() -> None:
    tries = trace(offsets(3, tries=3)).requests[1:]
    assert [(each.copies, each.answer is None) for each in tries] == [(1, False), (2, True)]


def test_an_offset_that_its_member_may_not_send_says_nothing_but_that_the_leader_may_have_added_it() -> None:
    refused = offsets(3, outcome="refused", error=KafkaError.ILLEGAL_GENERATION)
    (_, last) = trace(refused).requests
    assert isinstance(last.request, AddPartitionsAsked)
    assert last.answer is None
    assert check_trace(trace(refused, row(4, "abort", epoch=1)).requests, NEWEST).explained is Explained.YES


def test_of_several_groups_that_may_lie_in_one_partition_no_answer_is_examined() -> None:
    (_, *asked) = trace(offsets(3), offsets(4, group="h")).requests
    assert [type(each.request).__name__ for each in asked] == ["AddPartitionsAsked"] * 2
    assert not any(each.answer for each in asked)


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_the_offset_of_a_fenced_producer_that_is_accepted_is_not_explained(protocol: str) -> None:
    mine = {"protocol": protocol, "tries": 1 + (protocol == "v1")}
    fenced = row(4, "init", actor="b", epoch=2, tries=2, protocol=protocol)
    late = offsets(5, protocol=protocol)
    broken = trace(offsets(3, **mine), fenced, late)
    profile = NEWEST if protocol == "v2" else OLD_PROTOCOL
    assert check_trace(broken.requests[:-1], profile, timeout_ms=NEVER).explained is Explained.YES
    verdict = check_trace(broken.requests, profile, timeout_ms=NEVER)
    assert verdict.explained is Explained.NO
    assert isinstance(verdict.prefix[-1].request, TxnOffsetCommitAsked)
    refused = offsets(5, protocol=protocol, outcome="refused", error=KafkaError.INVALID_PRODUCER_EPOCH)
    sound = trace(offsets(3, **mine), fenced, refused)
    assert check_trace(sound.requests, profile, timeout_ms=NEVER).explained is Explained.YES


def test_offsets_with_a_commit_behind_them_are_explained() -> None:
    sound = trace(
        offsets(3), offsets(4), row(5, "commit", epoch=1), row(6, "begin", epoch=1, tries=0), offsets(7, epoch=1)
    )
    assert check_trace(sound.requests, NEWEST, timeout_ms=NEVER).explained is Explained.YES


def test_a_partition_was_added_though_no_connection_was_found_for_its_record() -> None:
    """The one try is that of AddPartitionsToTxn; without it there would be nothing to abort."""
    write = row(
        3, "produce", topic="t", partition=0, outcome="refused", error=None, reason="no connection", protocol="v1"
    )
    abort = row(4, "abort", protocol="v1")
    (_, added, _) = trace(write, abort).requests
    assert isinstance(added.request, AddPartitionsAsked)
    assert added.answer is not None
    assert check_trace(trace(write, abort).requests, OLD_PROTOCOL, timeout_ms=NEVER).explained is Explained.YES


@pytest.mark.parametrize(("window", "explained"), [((0, 2.9), Explained.NO), ((3.2, 9), Explained.YES)])
def test_a_broker_that_was_cut_off_refuses_by_what_it_knew_last(
    window: tuple[float, float], explained: Explained
) -> None:
    write = row(
        3, "produce", topic="t", partition=0, outcome="refused", error=KafkaError.INVALID_PRODUCER_EPOCH
    )  # nobody else has begun with this id
    rows = [row(1, "init"), row(2, "begin", tries=0), write]
    requests = ClientTrace.of("t", rows, stale=stale(window)).requests
    assert check_trace(requests, NEWEST, timeout_ms=NEVER).explained is explained


@pytest.mark.parametrize(
    ("moved", "explained"),
    [
        ("__transaction_state-4", Explained.YES),
        ("__transaction_state-3", Explained.NO),
        ("t-0", Explained.YES),
        ("t-1", Explained.NO),
    ],
)
def test_of_moved_partitions_only_those_count_whose_leaders_were_asked(moved: str, explained: Explained) -> None:
    """Of seven partitions the fifth keeps the id ``t``, whose hash in Java is 116."""
    write = row(3, "produce", topic="t", partition=0, outcome="refused", error=KafkaError.INVALID_PRODUCER_EPOCH)
    rows = [row(1, "init"), row(2, "begin", tries=0), write]
    requests = ClientTrace.of("t", rows, stale=stale((3.2, 9), moved, state_partitions=7)).requests
    assert check_trace(requests, NEWEST, timeout_ms=NEVER).explained is explained


def test_where_the_ids_partition_is_not_known_each_coordinator_counts() -> None:
    rows = [row(1, "init"), row(2, "init", actor="b", outcome="refused", error=KafkaError.PRODUCER_FENCED)]
    for moved, explained in (("__transaction_state-3", Explained.YES), ("t-0", Explained.NO)):
        requests = ClientTrace.of("t", rows, stale=stale((2, 9), moved)).requests
        assert check_trace(requests, NEWEST, timeout_ms=NEVER).explained is explained


def test_a_groups_offsets_are_refused_also_by_who_kept_the_group() -> None:
    late = offsets(3, outcome="refused", error=KafkaError.INVALID_PRODUCER_EPOCH)
    rows = [row(1, "init"), row(2, "begin", tries=0), late]
    for moved, explained in (("__consumer_offsets-1", Explained.YES), ("__transaction_state-3", Explained.NO)):
        requests = ClientTrace.of("t", rows, stale=stale((3.2, 9), moved, state_partitions=7)).requests
        assert check_trace(requests, NEWEST, timeout_ms=NEVER).explained is explained


def test_what_a_broker_has_accepted_counts_also_where_one_was_cut_off() -> None:
    rows = [row(1, "init"), row(2, "init", actor="b", epoch=0)]  # one epoch for two
    requests = ClientTrace.of("t", rows, stale=stale((0, 9))).requests
    assert check_trace(requests, NEWEST).explained is Explained.NO


def old_write(number: int, **given: Any) -> Mapping[str, Any]:
    """To one partition; the first of a transaction has one try more, that of AddPartitionsToTxn."""
    return row(number, "produce", **{"topic": "t", "partition": 0, "protocol": "v1", "tries": 2, **given})


@pytest.mark.parametrize(("tries", "explained"), [(2, Explained.NO), (3, Explained.YES)], ids=["one try", "another"])
def test_a_late_copy_of_the_last_batch_lets_the_next_one_be_refused(tries: int, explained: Explained) -> None:
    """Its leader asks the coordinator about it, and takes nothing behind its sequence meanwhile."""
    first = [old_write(3, tries=tries), row(4, "commit", protocol="v1")]
    refused = old_write(6, outcome="refused", error=KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)
    requests = trace(*first, row(5, "begin", protocol="v1", tries=0), refused).requests
    assert check_trace(requests, OLD_PROTOCOL, timeout_ms=NEVER).explained is explained


def test_the_last_copies_of_batches_stand_for_all_before() -> None:
    """A trace of thousands of batches has a few requests that may still come."""
    ended = [row(4, "commit", protocol="v1"), row(5, "begin", protocol="v1", tries=0)]
    requests = trace(old_write(3, tries=4), *ended, old_write(6, tries=3), row(7, "commit", protocol="v1")).requests
    copies = [each for each in requests if each.answer is None and isinstance(each.request, ProduceAsked)]
    assert [(each.sent, each.copies, each.until) for each in copies] == [(3.0, 2, 6.0), (6.0, 3, None)]
    assert check_trace(requests, OLD_PROTOCOL, timeout_ms=NEVER).explained is Explained.YES


def test_what_stands_for_earlier_copies_is_all_that_waits() -> None:
    before = [old_write(3, tries=3), row(4, "commit", protocol="v1"), row(5, "begin", protocol="v1", tries=0)]
    after = [old_write(6, tries=3), row(7, "commit", protocol="v1"), row(8, "begin", protocol="v1", tries=0)]
    late = old_write(9, outcome="refused", error=KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)
    requests = trace(*before, *after, late).requests
    assert check_trace(requests, OLD_PROTOCOL, timeout_ms=NEVER).explained is Explained.YES


def test_a_long_trace_is_searched_to_its_end() -> None:
    of_each = (
        (row(number, "begin", protocol="v1", tries=0), old_write(number + 1), row(number + 2, "commit", protocol="v1"))
        for number in range(3, 63, 3)
    )
    requests = trace(row(2, "begin", protocol="v1", tries=0), *(each for three in of_each for each in three)).requests
    verdict = check_trace(requests, OLD_PROTOCOL, timeout_ms=NEVER, most=3)
    assert (verdict.explained, len(requests)) == (Explained.YES, 61)
    assert verdict.configurations > 61


def test_how_many_copies_of_a_request_wait_makes_no_search_long() -> None:
    """A transaction times out while two requests are sent again and again: one began before it, one behind."""
    waiting = old_write(3, ended=9.0, outcome="unsure", tries=13)
    refused = old_write(4, partition=1, ended=8.5, tries=12, outcome="refused", error=KafkaError.INVALID_PRODUCER_EPOCH)
    fenced = row(10, "abort", protocol="v1", outcome="refused", error=KafkaError.PRODUCER_FENCED)
    requests = trace(waiting, refused, fenced, row(11, "init", actor="b", epoch=2, protocol="v1")).requests
    verdict = check_trace(requests, OLD_PROTOCOL)
    assert verdict.explained is Explained.YES
    assert verdict.configurations < 5_000


def test_an_id_has_one_coordinator_where_its_partition_kept_its_leader() -> None:
    kept = frozenset({state_partition("t", 50)})
    assert StaleBrokers(state_partitions=50, kept=kept).keep("t")
    assert not StaleBrokers(state_partitions=50, kept=frozenset(range(50)) - kept).keep("t")
    assert not StaleBrokers(kept=kept).keep("t"), "nobody tells how many partitions there are"
