"""Words for runs of ``kafka-transactions.sh``: steps by hand, and what a check reads of them.

Its table's rows are mappings by the table's headings, in text as it was printed.
"""

from collections.abc import Mapping

from harness.base.json_value import Json
from harness.contract.expect import Observation, accepted, agree, finding
from harness.evidence.requirement_evidence import TOOL, Step


def ran(
    name: str, *stdout: str, exit_code: int = 0, stderr: str = "", rows: tuple[Mapping[str, Json], ...] = ()
) -> Step:
    """A run of the tool that printed these lines, or a table of these rows."""
    fields: dict[str, Json] = {"stdout": [*stdout], "stderr": stderr, "rows": [dict(row) for row in rows]}
    return Step(name=name, api="kafka-transactions", version=TOOL, error=exit_code, fields=fields, answered=100.0)


def printed(step: Step) -> str:
    """What it printed to stdout, white space as one blank."""
    lines = step.fields.get("stdout")
    return " ".join(" ".join(map(str, lines if isinstance(lines, list) else ())).split())


def rows(step: Step, **cells: Json) -> tuple[Mapping[str, Json], ...]:
    """The rows of its table that have these cells."""
    found = step.fields.get("rows")
    every = [row for row in (found if isinstance(found, list) else ()) if isinstance(row, dict)]
    return tuple(row for row in every if cells.items() <= row.items())


def complains(step: Step, words: str, *, otherwise: str) -> Observation:
    """It ended with exit code 1 and these words on stderr; a success is the anomaly, other words ``wrong-message``."""
    if step.error != 1:
        return finding(otherwise, f"{step.name}: {step.call} ended with {step.outcome(step.error)}", step)
    said = " ".join(str(step.fields.get("stderr", "")).split())
    return agree(f"{step.name}: stderr has {words!r}", words in said, True, step, otherwise="wrong-message")


def silent(step: Step, *, otherwise: str) -> Observation:
    """It succeeded and printed nothing."""
    if step.error != 0 or not printed(step):
        return accepted(step, otherwise=otherwise)
    return finding(otherwise, f"{step.name}: {step.call} printed {printed(step)!r}", step)
