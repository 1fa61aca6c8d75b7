"""Symbolic numbers and real ones stand for each other, in the order in which brokers give them out."""

from harness.explore.cell_identities import NOBODYS, OF_AN_EXPLORATION, CellIdentities, nobodys_of


def identities(number: int = 3, nobodys: int = NOBODYS) -> CellIdentities:
    return CellIdentities(
        number=number,
        ids={"own": "f-c3-own", "other": "f-c3-other"},
        places={"A": ("t", 0), "B": ("t", 1)},
        coordinator_epochs={"own": 5, "other": 2},
        nobodys=nobodys,
    )


def test_producer_ids_are_numbered_as_they_are_given() -> None:
    who = identities()
    assert (who.given(4000, "other"), who.given(7, "own"), who.given(4000, "other")) == (0, 1, 0)
    assert (who.producer_id(0), who.producer_id(1), who.symbol(7)) == (4000, 7, 1)
    assert (who.given(-1, "own"), who.producer_id(-1)) == (-1, -1)


def test_an_id_that_nobody_has_is_the_cells_alone() -> None:
    here, there = identities(3), identities(4)
    nobodys = here.producer_id(9999)
    assert nobodys != there.producer_id(9999)
    assert here.symbol(nobodys) == 9999
    assert here.producer_ids == (nobodys,)
    assert here.given(7, "own") == 0


def test_the_same_cell_of_another_exploration_names_another_id_that_nobody_has() -> None:
    """What the first has left open on a group's partition is there for days."""
    first, second = (identities(200_000, nobodys_of(stamp)) for stamp in ("00000a", "00000b"))
    assert second.producer_id(9999) - first.producer_id(9999) == OF_AN_EXPLORATION
    assert identities(200_000).producer_id(9999) - NOBODYS < OF_AN_EXPLORATION
    assert identities(200_000, nobodys_of("ffffff")).producer_id(9999) < 1 << 63


def test_coordinator_epochs_are_told_from_the_coordinator_of_the_producer() -> None:
    who = identities()
    who.given(4000, "other"), who.given(7, "own")
    assert who.real_coordinator_epoch(-1, 1) == 4
    assert who.real_coordinator_epoch(1, 0) == 3
    assert who.real_coordinator_epoch(0, 9999) == 5
    assert who.relative_coordinator_epoch(5, 1) == 0
    assert who.relative_coordinator_epoch(-1, 1) == -1
