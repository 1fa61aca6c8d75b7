"""Checks and backends stand in their tables: one that is in no table would never run."""

from collections.abc import Iterator, Sequence

import pytest

from harness.base.bound_values import load_module
from harness.base.paths import ROOT
from harness.cluster.backend import Backend
from harness.cluster.backend_catalogue import BACKENDS
from harness.judge.all_checks import CHECKS
from harness.judge.check import Check

TABLES = {
    "cluster": (Backend, BACKENDS),
    "judge/checks": (Check, CHECKS),
}


def bound_at_the_top(room: str) -> Iterator[object]:
    """Every value that a file of the room binds, those of bound tuples among them."""
    for path in sorted((ROOT / "harness" / room).rglob("[a-z]*.py")):
        if "programs" in path.parts:  # adapters of other languages' libraries, which we never import
            continue
        for value in vars(load_module(path)).values():
            yield from value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("room", TABLES)
def test_what_a_file_of_the_room_offers_is_in_the_table(room: str) -> None:
    kind, table = TABLES[room]
    assert missing([value for value in bound_at_the_top(room) if isinstance(value, kind)], table) == []


def missing(offered: Sequence[object], table: Sequence[object]) -> Sequence[object]:
    """What is not in the table; there is something to look at."""
    assert offered
    return [value for value in offered if value not in table]
