"""A Spark master that is not there is reported in one sentence, before anything has been started."""

import socket

import pytest

from harness.base.user_error import ExitCode
from harness.spark.session.spark_master import check_master, first_line
from harness.spark.session.spark_session import open_session
from suites.selfcheck.fixtures.user_errors import raises_user_error


@pytest.mark.parametrize("master", ["spark://127.0.0.1:1", "spark://127.0.0.1:1,127.0.0.1:2", "spark://x"])
def test_a_master_that_does_not_answer_is_an_error_at_once(master: str) -> None:
    with raises_user_error(ExitCode.TOOL_MISSING, f"no Spark master answers at {master}; "):
        open_session(name="never", master=master)


def test_one_master_of_several_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as standing:
        check_master(f"spark://127.0.0.1:1,127.0.0.1:{standing.getsockname()[1]}")


def test_other_masters_are_sparks_own_to_find() -> None:
    for master in ("local", "local[*]", "local[2,3]", "local-cluster[2,1,1024]", "yarn", "k8s://https://host"):
        check_master(master)


@pytest.mark.parametrize("master", ["spork://x", "local[", "local[two]", ""])
def test_a_malformed_master_is_an_error_before_anything_is_started(master: str) -> None:
    with raises_user_error(ExitCode.USAGE, "is no Spark master; "):
        open_session(name="never", master=master)


def test_an_error_is_reported_by_its_first_line() -> None:
    assert first_line(ValueError("one\ntwo")) == "one"
