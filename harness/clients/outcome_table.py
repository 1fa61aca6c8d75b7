"""A row of an error table, and the law by which an answer after doubt is judged.

*Doubt* is an earlier try of the same operation that may have had its effect although nobody was told: it went
unanswered, or was answered by a row that is itself unsure. After doubt a refusal may be the echo of one's own success,
so it is unsure; unless a row says what it means then (DUPLICATE_SEQUENCE_NUMBER: the first try was written).
"""

from dataclasses import dataclass

from harness.evidence.operation import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """What one error means.

    :param reason: Why, in one sentence; it stands in the history beside the outcome.
    :param again: Whether the same request may be sent again within the operation's bound; the outcome is what counts
        when the bound has passed.
    :param after_doubt: What a refusal means after doubt.
    """

    outcome: Outcome
    reason: str
    again: bool = False
    after_doubt: Outcome = Outcome.UNSURE


def outcome_after(row: OutcomeRow, *, doubt: bool) -> Outcome:
    """The outcome of an operation whose last answer is ``row``.

    >>> ruled(refused("the epoch is old"), doubt=True)
    <Outcome.UNSURE: 'unsure'>
    """
    return row.after_doubt if doubt and row.outcome is Outcome.REFUSED else row.outcome


def refused(reason: str, *, again: bool = False) -> OutcomeRow:
    """A row of an error that says: this try did nothing."""
    return OutcomeRow(outcome=Outcome.REFUSED, reason=reason, again=again)


def unsure(reason: str, *, again: bool = False) -> OutcomeRow:
    """A row of an error that may come after the effect."""
    return OutcomeRow(outcome=Outcome.UNSURE, reason=reason, again=again)
