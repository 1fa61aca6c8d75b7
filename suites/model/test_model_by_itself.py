"""The model keeps the promises where Kafka defends them, and breaks them where it does not."""

from collections import Counter
from dataclasses import replace

import pytest

from harness.model.exploration import explore
from harness.model.grid import grid_cells, reached_states
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL
from suites.model.scopes import SCOPES, ModelScope, new_client

OFFERED = {
    "InitProducerId": (0, 5), "AddPartitionsToTxn": (0, 5), "Produce": (3, 13), "EndTxn": (0, 5),
    "WriteTxnMarkers": (1, 2), "AddOffsetsToTxn": (0, 4), "TxnOffsetCommit": (0, 5), "OffsetFetch": (1, 10),
    "ListTransactions": (0, 2),
}  # fmt: skip
"""By Kafka 4.3."""


@pytest.mark.parametrize("scope", [each for each in SCOPES if not each.large], ids=lambda each: each.name)
def test_a_scope_holds_or_breaks_as_it_must(scope: ModelScope) -> None:
    result = explore(scope.profile, scope.clients, repeats=scope.repeats, moves=scope.moves)
    if scope.breaks is None:
        assert (result.broken, result.whole) == (None, True)
    else:
        assert result.broken is not None
        assert result.broken.startswith(scope.breaks)
        assert result.events


def test_without_the_verification_of_part_1_the_new_protocol_has_a_hole_as_well() -> None:
    result = explore(replace(NEWEST, verifies=False), (new_client("one"),))
    assert result.broken is not None


def test_a_scope_that_is_too_large_is_not_called_whole() -> None:
    result = explore(NEWEST, (new_client("one"), new_client("two")), most_states=50)
    assert not result.whole


def test_the_grid_has_more_than_ten_thousand_cells_and_no_state_twice() -> None:
    names = Counter(state.name for state in reached_states(NEWEST, OFFERED))
    assert max(names.values()) == 1
    assert sum(1 for _ in grid_cells(NEWEST, OFFERED)) > 10_000


def test_each_cell_is_one_question() -> None:
    cells = [(cell.state, cell.request) for cell in grid_cells(OLD_PROTOCOL, OFFERED, limit=5_000)]
    assert len(set(cells)) == len(cells)
