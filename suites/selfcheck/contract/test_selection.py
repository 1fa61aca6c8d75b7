"""A selection names requirements, groups and KIPs, and with ``!`` what is left out of them, or of all."""

import pytest

from harness.base.paths import CONTRACT, ROOT
from harness.base.user_error import ExitCode
from harness.contract.catalogue.requirement_catalogue import find, requirement_row
from harness.contract.catalogue.selection import selected
from suites.selfcheck.fixtures.user_errors import raises_user_error

ROWS = [requirement_row(entry, root=ROOT) for entry in find(CONTRACT)]
ALL = {row.id for row in ROWS}
SEQ = {row.id for row in ROWS if row.group == "SEQ"}


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ("kip890-seq-01, VERIFY-03", {"KIP890-SEQ-01", "KIP890-VERIFY-03"}),
        ("SEQ", SEQ),
        ("SEQ,!KIP890-SEQ-01", SEQ - {"KIP890-SEQ-01"}),
        ("!KIP890-SEQ-01,SEQ", SEQ - {"KIP890-SEQ-01"}),
        ("!KIP360-INIT-13", ALL - {"KIP360-INIT-13"}),
        ("!SEQ,!KIP360-INIT-13", ALL - SEQ - {"KIP360-INIT-13"}),
    ],
)
def test_a_selection_stands_for_these(wanted: str, ids: set[str]) -> None:
    assert selected(wanted, ROWS) == ids


@pytest.mark.parametrize("wanted", ["NONE-SUCH", "!NONE-SUCH", "!"])
def test_a_name_that_meets_nothing_is_an_error(wanted: str) -> None:
    with raises_user_error(ExitCode.USAGE, "is no requirement, group or KIP"):
        selected(wanted, ROWS)


@pytest.mark.parametrize("wanted", ["SEQ,!KIP-890", "KIP890-SEQ-01,!SEQ", ","])
def test_a_selection_that_leaves_nothing_is_an_error(wanted: str) -> None:
    with raises_user_error(ExitCode.USAGE, "leaves no requirement to be judged"):
        selected(wanted, ROWS)
