"""The page: each failpoint with what a session of chaos came to, and the share that was found."""

from collections import Counter
from collections.abc import Iterator, Sequence

from suites.chaos.failpoints.chaos_trials import ChaosOutcome, ChaosTrial

HEAD = """\
# The contract's failpoints before chaos

A *failpoint* breaks the code of a running Kafka by Byteman rules, to prove that a requirement can fail. Here each
spares what comes first in every broker, and a session of chaos, which is told nothing, plays its usual rounds for at
most {seconds:g} s, until one is red. Made by `python -m suites.chaos.failpoints`.
"""
TRIED = (ChaosOutcome.FOUND, ChaosOutcome.NOT_FOUND, ChaosOutcome.NOT_SHOWN)
"""What a session has met: its code was run."""


def found_page(lines: Sequence[ChaosTrial], known: int, seconds: float) -> str:
    """The whole text. :param known: How many failpoints brokers can run. :param seconds: Of each session."""
    told = [HEAD.format(seconds=seconds), *_shares(lines, known), *_table(lines)]
    return "\n".join(told) + "\n"


def _shares(lines: Sequence[ChaosTrial], known: int) -> Iterator[str]:
    counts = Counter(line.outcome for line in lines)
    yield f"{len(lines)} of {known} failpoints were tried: " + ", ".join(
        f"{number} {outcome}" for outcome, number in counts.most_common()
    )
    met = sum(counts[outcome] for outcome in TRIED)
    yield f"\n**Of {met} whose code was run, {counts[ChaosOutcome.FOUND]} are found.**"


def _table(lines: Sequence[ChaosTrial]) -> Iterator[str]:
    yield "\n| failpoint | where | refutes | outcome | anomalies | rounds | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for line in sorted(lines, key=lambda one: (one.outcome is ChaosOutcome.FOUND, one.outcome, one.names)):
        refuted = ", ".join(dict.fromkeys(id_ for id_, _ in line.refutes))
        rounds = ", ".join(f"{scenario} {conclusion}" for scenario, conclusion in line.rounds) or line.why
        cells = [
            "; ".join(line.names),
            "; ".join(line.places),
            refuted,
            line.outcome,
            ", ".join(line.anomalies),
            rounds,
        ]
        yield (
            "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + f" | {line.seconds:.0f} |"
        )
