"""Which requirements a person meant: ids, groups and KIPs by name; a name that meets nothing is an error."""

from collections.abc import Iterable, Sequence

from harness.base.user_error import ExitCode, UserError
from harness.contract.catalogue.requirement_catalogue import RequirementRow

LEFT_OUT = "!"
"""What a part begins with that names what is not wanted."""


def selected(wanted: str, rows: Iterable[RequirementRow]) -> frozenset[str]:
    """The ids that ``wanted`` (``KIP890-BUMP-01,VERIFY-03,RETRY,KIP-664,!LT``) stands for, case ignored.

    What ``!`` stands before is left out: of the rest that is named, or of all where nothing else is. So the others are
    judged on a server that the requests of one requirement end.

    :raises UserError: When a part meets no requirement, with what could have been meant; when none is left.
    """
    all_rows = list(rows)
    parts = [part.strip().upper() for part in wanted.split(",") if part.strip()]
    met = {part: _met(part.removeprefix(LEFT_OUT), all_rows) for part in parts}
    left_out = [part for part in parts if part.startswith(LEFT_OUT)]
    taken = [met[part] for part in parts if part not in left_out]
    chosen = frozenset[str]().union(*taken) if taken or not left_out else frozenset(row.id for row in all_rows)
    kept = chosen.difference(*(met[part] for part in left_out))
    if not kept:
        raise UserError(f"{wanted!r} leaves no requirement to be judged", exit=ExitCode.USAGE)
    return kept


def _met(name: str, all_rows: Sequence[RequirementRow]) -> frozenset[str]:
    met = frozenset(row.id for row in all_rows if name in _names(row))
    if not met:
        groups = ", ".join(sorted({row.group for row in all_rows}))
        sentence = f"{name} is no requirement, group or KIP; groups are {groups}; ids are in 'fencepost list'"
        raise UserError(sentence, exit=ExitCode.USAGE)
    return met


def _names(row: RequirementRow) -> set[str]:
    short = row.id.upper().partition("-")[2]
    return {row.id.upper(), short, row.group.upper(), row.kip.upper(), row.kip.replace("-", "").upper()}
