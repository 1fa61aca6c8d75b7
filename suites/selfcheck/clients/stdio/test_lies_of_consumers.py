"""Lies of adapters about what is read."""

from pathlib import Path

import pytest

from suites.selfcheck.clients.stdio.scripted_liar import (
    read,
    told,
)


def test_shows_aborted(tmp_path: Path) -> None:
    seen = told(tmp_path, "shows-aborted", {}, {"call": "open", "isolation": "read_committed", "client_id": "c"})
    assert [(each["isolation"], each["client_id"]) for each in seen.asked] == [("read_uncommitted", "c")]


def test_skips_a_record(tmp_path: Path) -> None:
    script = {"poll": [read(0, 1, 2, positions=[3]), read(3, positions=[4]), read(), read(4)]}
    seen = told(tmp_path, "skips-a-record", script, "poll", "poll", "poll", "poll")
    assert [[each.offset for each in answer.records] for answer in seen.answers] == [[0, 2], [], [], [4]]
    assert [each.offset for answer in seen.answers for each in answer.positions] == [3, 4]


def test_stale_position(tmp_path: Path) -> None:
    seen = told(tmp_path, "stale-position", {"poll": [read(4, positions=[5, 0])]}, "poll")
    assert [each.offset for each in seen.answers[0].positions] == [4, 0]
    assert [each.offset for each in seen.answers[0].records] == [4]


@pytest.mark.parametrize(
    ("lie", "records", "positions"),
    [
        ("repeats-records", [0, 0, 1, 1], [2]),
        ("reverses-records", [1, 0], [2]),
        ("shifts-offsets", [1, 2], [2]),
        ("shows-markers", [0, 1, 1, 2], [2]),
        ("forgets-position", [0, 1], [0]),
        ("position-ahead", [0, 1], [3]),
        ("polls-fail", [0, 1], [2]),
    ],
)
def test_what_is_told_of_a_poll(lie: str, records: list[int], positions: list[int], tmp_path: Path) -> None:
    (answer,) = told(tmp_path, lie, {"poll": [read(0, 1, positions=[2])]}, "poll").answers
    assert answer.outcome == ("refused" if lie == "polls-fail" else "done")
    assert [each.offset for each in answer.records] == records
    assert [each.value for each in answer.records].count("marker") == (2 if lie == "shows-markers" else 0)
    assert [each.offset for each in answer.positions] == positions
