"""Which requirements a person meant: ids, groups and KIPs by name; a name that meets nothing is an error."""

from collections.abc import Iterable

from harness.base.user_error import ExitCode, UserError
from harness.contract.catalogue.requirement_catalogue import RequirementRow


def selected(wanted: str, rows: Iterable[RequirementRow]) -> frozenset[str]:
    """The ids that ``wanted`` (``KIP890-BUMP-01,VERIFY-03,RETRY,KIP-664``) stands for, case ignored.

    :raises UserError: When a part meets no requirement, with what could have been meant.
    """
    all_rows = list(rows)
    chosen: set[str] = set()
    for part in filter(None, (part.strip().upper() for part in wanted.split(","))):
        met = {row.id for row in all_rows if part in _names(row)}
        if not met:
            groups = ", ".join(sorted({row.group for row in all_rows}))
            sentence = f"{part} is no requirement, group or KIP; groups are {groups}; ids are in 'fencepost list'"
            raise UserError(sentence, exit=ExitCode.USAGE)
        chosen |= met
    return frozenset(chosen)


def _names(row: RequirementRow) -> set[str]:
    short = row.id.upper().partition("-")[2]
    return {row.id.upper(), short, row.group.upper(), row.kip.upper(), row.kip.replace("-", "").upper()}
