"""Statuses as one letter, where a table has no room for a word."""

from collections.abc import Mapping

from harness.contract.verdict import Status
from harness.report.shared.words import DIFFERS, NOT_JUDGED

LETTERS: Mapping[str, str] = {
    Status.HOLDS.value: "✓",
    Status.VIOLATED.value: "✗",
    DIFFERS: "≠",
    Status.NOT_EXERCISED.value: "?",
    Status.UNDECIDED.value: "!",
    Status.OUT_OF_REACH.value: "o",
    Status.NOT_OFFERED.value: "·",
    NOT_JUDGED: " ",
}
LETTERS_EXPLAINED = (
    "✓ holds · ✗ violated · ≠ differs from {than}, keeps the KIP\n"
    "? not exercised · ! undecided · o out of reach · · not offered"
)
