"""``reports/MODEL.md``: each failpoint with what the grid came to, and the shares."""

from collections import Counter
from collections.abc import Iterator, Sequence

from suites.model.failpoints import failpoint_reason
from suites.model.failpoints.failpoint_reason import reason_of
from suites.model.failpoints.tried_failpoints import FailpointOutcome, TriedFailpoint
from suites.model.failpoints.unseen_reasons import UnseenBecause, UnseenReason

HEAD = """\
# The contract's failpoints before the grid

Every requirement of the contract is proven able to fail, many of them by a *failpoint*: Byteman rules that break the
code of a running Kafka. The model's grid was told nothing of them. Here it is asked of each of these broken Kafkas, at
most {cells:,} cells, until one differs from the model, and agrees again once the failpoint is out. Made by
`python -m suites.model.failpoints`; the reasons are written by hand
([unseen.toml](../suites/model/failpoints/unseen.toml)).
"""
WITHIN_REACH = (UnseenBecause.MISSED, UnseenBecause.OUT_OF_ORDER)
"""What changes an answer or a state all the same."""


def page(lines: Sequence[TriedFailpoint], known: int, reasons: Sequence[UnseenReason]) -> str:
    """The whole text. :param known: How many failpoints the contract names."""
    cells = max((line.cells for line in lines), default=0)
    told = [HEAD.format(cells=cells), *_shares(lines, known, reasons), *_unseen(lines, reasons), *_caught(lines)]
    return "\n".join(told) + "\n"


def without_reason(lines: Sequence[TriedFailpoint], reasons: Sequence[UnseenReason]) -> Sequence[TriedFailpoint]:
    """What was not found, and nobody has said why."""
    return [line for line in _not_seen(lines) if reason_of(line, reasons) is None]


def unused(lines: Sequence[TriedFailpoint], reasons: Sequence[UnseenReason]) -> Sequence[UnseenReason]:
    """Reasons that no failpoint needs."""
    return failpoint_reason.unused(_not_seen(lines), reasons)


def _shares(lines: Sequence[TriedFailpoint], known: int, reasons: Sequence[UnseenReason]) -> Iterator[str]:
    counts = Counter(line.outcome for line in lines)
    within = [line for line in lines if _is_within_reach(line, reasons)]
    seen = sum(line.is_seen for line in within)
    yield f"{len(lines)} of {known} failpoints were tried: " + ", ".join(
        f"{number} {outcome}" for outcome, number in counts.most_common()
    )
    yield f"\n**Of {len(within)} that change an answer or a state of transactions, the grid finds {seen}.**"


def _is_within_reach(line: TriedFailpoint, reasons: Sequence[UnseenReason]) -> bool:
    if line.is_seen or line.outcome is FailpointOutcome.OF_A_TOOL:
        return line.is_seen
    reason = reason_of(line, reasons)
    return reason is None or reason.because in WITHIN_REACH


def _not_seen(lines: Sequence[TriedFailpoint]) -> Sequence[TriedFailpoint]:
    return [line for line in lines if not line.is_seen and line.outcome is not FailpointOutcome.OF_A_TOOL]


def _unseen(lines: Sequence[TriedFailpoint], reasons: Sequence[UnseenReason]) -> Iterator[str]:
    yield "\n## Not found\n\n| failpoint | where | refutes | cells | its code was run | it changes | why |"
    yield "|---|---|---|---|---|---|---|"
    for line in _not_seen(lines):
        reason = reason_of(line, reasons)
        because, why = ("?", "") if reason is None else (reason.because, reason.reason)
        ran = "yes" if line.entered else "no"
        yield f"| {_begin(line)} | {line.cells} | {ran} | {because} | {_cell(line.why or why)} |"


def _caught(lines: Sequence[TriedFailpoint]) -> Iterator[str]:
    yield "\n## Found\n\n| failpoint | where | refutes | cells | differ | the first, after the shortest path |"
    yield "|---|---|---|---|---|---|"
    for line in lines:
        if line.is_seen:
            yield f"| {_begin(line)} | {line.cells} | {line.differing} | {_cell(_first(line))} |"


def _begin(line: TriedFailpoint) -> str:
    refuted = ", ".join(dict.fromkeys(id_ for id_, _ in line.refutes))
    return " | ".join(map(_cell, ("; ".join(line.names), "; ".join(line.places), refuted)))


def _first(line: TriedFailpoint) -> str:
    if not line.differences:
        return f"no answer any more: {line.why}"
    one = line.differences[0]
    return f"{line.request}, in «{line.state}»: {one.part}: expected {one.expected}; seen {one.seen}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
