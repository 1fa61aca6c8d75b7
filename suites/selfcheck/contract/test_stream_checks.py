"""The checks of a stream, and what the evidence keeps of it."""

from dataclasses import replace

import pytest

from harness.contract.doctored import abort, commit, data, evidence, log, sample
from harness.contract.expect import Finding
from harness.contract.stream_checks import delivered_once, out_of_reach, reached
from harness.evidence.requirement_evidence import NotSeen
from harness.evidence.stream_account import StreamAccount, as_fact, stream_account

ACCOUNT = StreamAccount(end_offset=4, wanted=4, reached_ms=1.5, micro_batches=2, delivered=("a", "b"))


def test_an_account_goes_into_the_evidence_and_back() -> None:
    seen = evidence(reader=as_fact({"P1": ACCOUNT}))
    assert stream_account(seen, "P1") == ACCOUNT


@pytest.mark.parametrize("partition", ["P1", "P2"])
def test_a_reader_that_read_nothing_or_is_not_recorded_examined_nothing(partition: str) -> None:
    seen = evidence(reader=as_fact({"P1": replace(ACCOUNT, micro_batches=0)}))
    with pytest.raises(NotSeen):
        stream_account(seen, partition)


def test_a_stream_below_a_stuck_last_stable_offset_is_stuck() -> None:
    behind = replace(ACCOUNT, wanted=6, reached_ms=None)
    found = reached(behind, sample("after reading", "P1", 6, 4))
    assert isinstance(found, Finding)
    assert found.anomaly == "stuck-lso"


def test_a_slow_reader_accuses_no_broker() -> None:
    behind = replace(ACCOUNT, wanted=6, reached_ms=None)
    with pytest.raises(NotSeen, match="the reader is slow"):
        reached(behind, sample("after reading", "P1", 6, 6))


def test_each_wrong_delivery_has_its_name() -> None:
    account = replace(ACCOUNT, delivered=("a", "a", "x", "l", "?"))
    seen = delivered_once(account, promised={"a", "b"}, never={"aborted": {"x"}, "late": {"l"}})
    found = [each.anomaly for each in seen if isinstance(each, Finding)]
    assert found == ["duplicate-delivery", "committed-record-missing", "unknown-record-delivered", "late", "aborted"]


def test_what_lies_beyond_the_end_is_excused_but_not_below_it() -> None:
    truth = log(data(7, 0, "a"), commit(7, 0), data(8, 0, "b"), abort(8, 0), data(7, 0, "c"), commit(7, 0))
    assert out_of_reach(truth, ACCOUNT) == {"c"}
    account = replace(ACCOUNT, delivered=())
    seen = delivered_once(account, promised={"a", "c"}, never={}, excused=out_of_reach(truth, account))
    assert [each.detail for each in seen if isinstance(each, Finding)] == ["'a' was not delivered"]
