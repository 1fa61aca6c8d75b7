"""The level of the common cluster moved under clients, and what a check says of the moves."""

from dataclasses import replace

from harness.contract import Observations, expect
from harness.contract.clients.spoken import FEATURE
from harness.contract.doctored import step
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab

TOP = 2
"""The highest level that a requirement asks for."""


def moved(lab: ClientLab, level: int, *, hang_up: bool = False) -> None:
    """Finalize it as the step ``level 1``, if it is not, and wait for it on every broker; inside ``lab.admin.keeping``.

    :param hang_up: Whether clients that run are made to connect again, since they learn a level only then.
    """
    now = set(lab.lab.levels.now(FEATURE))
    if now != {level}:
        lab.lab.levels.ask(FEATURE, level, down=max(now) > level, as_=f"level {level}")
    lab.lab.levels.shown(FEATURE, level, as_=f"shown {level}")
    if hang_up:
        lab.hang_up(name=f"hang up at {level}")


def was_moved(seen: Evidence, *levels: int) -> Observations:
    """Every move that was asked for was taken; anomaly ``level-not-changed``."""
    for level in dict.fromkeys(levels):
        for step_ in expect.taken(seen, f"level {level}"):
            yield expect.accepted(step_, otherwise="level-not-changed")


def with_moves(seen: Evidence, *levels: int) -> Evidence:
    """Evidence by hand with the steps of these moves."""
    return replace(seen, steps=tuple(step(f"level {level}", "UpdateFeatures", 2) for level in levels))
