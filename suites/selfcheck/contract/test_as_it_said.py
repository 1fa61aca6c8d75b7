"""The log is as a client said: what every promise of a client that writes looks at, whatever else it asks."""

from collections.abc import Mapping

import pytest

from harness.contract import Level, Witness
from harness.contract.clients.client_doctored import Told, call, of_client
from harness.contract.clients.client_expect import as_it_said
from harness.contract.doctored import abort, commit, data, log
from harness.contract.expect import Finding
from harness.evidence.requirement_evidence import LogTruth

BEGUN = (call("init"), call("begin"))
COMMITTED = (*BEGUN, call("produce", "x"), call("commit"))
ABORTED = (*BEGUN, call("produce", "x"), call("abort"))
UNSURE = (*BEGUN, call("produce", "x"), call("commit", outcome="unsure"))
DOUBTED = (*BEGUN, call("produce", "x", outcome="unsure"), call("commit"))
REFUSED = (*BEGUN, call("produce", "x", outcome="refused"), call("commit"))
PLAIN = (call("produce", "x"),)
SHOWN = {"P1": log(data(7, 0, "x"), commit(7, 0))}
TWICE = {"P1": log(data(7, 0, "x", "x"), commit(7, 0))}
HIDDEN = {"P1": log(data(7, 0, "x"), abort(7, 0))}
EMPTY = {"P1": log()}


@pytest.mark.parametrize(
    ("told", "logs", "anomalies"),
    [
        (COMMITTED, SHOWN, []),
        (COMMITTED, EMPTY, ["lost"]),
        (COMMITTED, HIDDEN, ["lost"]),
        (COMMITTED, TWICE, ["written-twice"]),
        (ABORTED, HIDDEN, []),
        (ABORTED, EMPTY, []),
        (ABORTED, SHOWN, ["aborted-is-shown"]),
        (UNSURE, SHOWN, []),
        (UNSURE, HIDDEN, []),
        (UNSURE, TWICE, ["written-twice"]),
        (REFUSED, EMPTY, ["committed-without-a-record"]),
        (DOUBTED, EMPTY, ["committed-without-a-record"]),
        (DOUBTED, SHOWN, []),
        (PLAIN, {"P1": log(data(7, 0, "x", transactional=False))}, []),
        (PLAIN, EMPTY, ["lost"]),
    ],
)
def test_what_is_said_is_compared_with_the_log(
    told: tuple[Told, ...], logs: Mapping[str, LogTruth], anomalies: list[str]
) -> None:
    found = list(as_it_said(of_client(*told, logs=logs)))
    assert [each.anomaly for each in found if isinstance(each, Finding)] == anomalies
    assert any(isinstance(each, Witness) for each in found) is not bool(anomalies)


def test_that_a_commit_fails_where_a_record_was_told_to_have_failed_is_one_library_s_way() -> None:
    (found,) = as_it_said(of_client(*REFUSED, logs=EMPTY))
    assert isinstance(found, Finding)
    assert found.level is Level.SHOULD


def test_an_abort_that_is_done_after_a_commit_that_was_not_decides() -> None:
    told = (*BEGUN, call("produce", "x"), call("commit", outcome="refused"), call("abort"))
    assert [getattr(each, "anomaly", "") for each in as_it_said(of_client(*told, logs=SHOWN))] == ["aborted-is-shown"]


def test_each_transaction_of_each_application_is_judged_by_itself() -> None:
    again = (call("begin"), call("produce", "y"), call("abort"))
    other = (call("begin", by="other"), call("produce", "z", by="other"), call("commit", by="other"))
    logs = {"P1": log(data(7, 0, "x"), commit(7, 0), data(7, 0, "y"), commit(7, 0))}
    found = list(as_it_said(of_client(*COMMITTED, *again, *other, logs=logs)))
    assert [getattr(each, "anomaly", "") for each in found] == ["", "aborted-is-shown", "lost"]


def test_nothing_is_said_where_no_log_was_read() -> None:
    assert list(as_it_said(of_client(*COMMITTED))) == []
