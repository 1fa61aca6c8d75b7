"""The page: each failpoint with what a session of chaos came to, and the share that was found."""

from collections import Counter
from collections.abc import Iterator, Sequence

from suites.chaos.failpoints.chaos_trials import ChaosOutcome, ChaosTrial
from suites.chaos.failpoints.missed_reasons import WITHIN_REACH, MissedReason
from suites.model.failpoints import failpoint_reason
from suites.model.failpoints.failpoint_reason import reason_of

HEAD = """\
# The contract's failpoints before chaos

A *failpoint* breaks the code of a running Kafka by Byteman rules, to prove that a requirement can fail. Here each has
no effect in a cluster's first seconds, and a session of chaos, which is told nothing, plays its usual rounds for at
most {seconds:g} s, until one is red. Made by `python -m suites.chaos.failpoints`; the reasons are written by hand
([missed.toml](../suites/chaos/failpoints/missed.toml)).
"""
TRIED = (ChaosOutcome.FOUND, ChaosOutcome.NOT_FOUND, ChaosOutcome.NOT_SHOWN)
"""What a session has met: a rule had its effect."""


def found_page(lines: Sequence[ChaosTrial], known: int, seconds: float, reasons: Sequence[MissedReason]) -> str:
    """The whole text. :param known: How many failpoints brokers can run. :param seconds: Of each session."""
    told = [HEAD.format(seconds=seconds), *_shares(lines, known, reasons), *_missed(lines, reasons), *_found(lines)]
    return "\n".join(told) + "\n"


def unused(lines: Sequence[ChaosTrial], reasons: Sequence[MissedReason]) -> Sequence[MissedReason]:
    """Reasons that no failpoint which was tried needs."""
    return failpoint_reason.unused([line for line in lines if not _is_found(line)], reasons)


def _shares(lines: Sequence[ChaosTrial], known: int, reasons: Sequence[MissedReason]) -> Iterator[str]:
    counts = Counter(line.outcome for line in lines)
    yield f"{len(lines)} of {known} failpoints were tried: " + ", ".join(
        f"{number} {outcome}" for outcome, number in counts.most_common()
    )
    met, found = sum(counts[outcome] for outcome in TRIED), counts[ChaosOutcome.FOUND]
    within = sum(_is_within_reach(line, reasons) for line in lines)
    yield f"\nOf {met} whose rules had an effect, {found} are found."
    yield f"\n**Of {within} that change what a client, a reader or the log shows, {found} are found.**"


def _is_found(line: ChaosTrial) -> bool:
    return line.outcome is ChaosOutcome.FOUND


def _is_within_reach(line: ChaosTrial, reasons: Sequence[MissedReason]) -> bool:
    if line.outcome not in TRIED or _is_found(line):
        return _is_found(line)
    reason = reason_of(line, reasons)
    return reason is None or reason.because in WITHIN_REACH


def _missed(lines: Sequence[ChaosTrial], reasons: Sequence[MissedReason]) -> Iterator[str]:
    yield "\n## Not found\n\n| failpoint | where | refutes | outcome | it changes | why | rounds |"
    yield "|---|---|---|---|---|---|---|"
    for line in _in_order(lines):
        if not _is_found(line):
            reason = reason_of(line, reasons)
            because, why = ("?", line.why) if reason is None else (reason.because, reason.reason)
            yield _row(*_begin(line), line.outcome, because, why, _rounds(line))


def _found(lines: Sequence[ChaosTrial]) -> Iterator[str]:
    yield "\n## Found\n\n| failpoint | where | refutes | anomalies | rounds | seconds |"
    yield "|---|---|---|---|---|---|"
    for line in _in_order(lines):
        if _is_found(line):
            yield _row(*_begin(line), ", ".join(line.anomalies), _rounds(line), f"{line.seconds:.0f}")


def _in_order(lines: Sequence[ChaosTrial]) -> Sequence[ChaosTrial]:
    return sorted(lines, key=lambda line: (line.outcome, line.names))


def _begin(line: ChaosTrial) -> tuple[str, str, str]:
    return "; ".join(line.names), "; ".join(line.places), ", ".join(dict.fromkeys(id_ for id_, _ in line.refutes))


def _rounds(line: ChaosTrial) -> str:
    """How many came to what, and which one was the last of those that are red."""
    counts = Counter(conclusion for _, conclusion in line.rounds)
    told = ", ".join(f"{number} {conclusion}" for conclusion, number in counts.items())
    return f"{told}: {line.rounds[-1][0]}" if line.anomalies else told


def _row(*cells: str) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
