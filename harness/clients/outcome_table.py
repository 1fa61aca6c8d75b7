"""A row of an error table, and how an answer is judged after doubt.

*Doubt* is an earlier try of the same operation that may have had its effect although the client does not know: it was
not answered, or was answered with an error whose row is unsure. After doubt a refusal may be the echo of one's own
success, so it is unsure, unless its row has ``after_doubt`` (DUPLICATE_SEQUENCE_NUMBER: the first try was written).
"""

from dataclasses import dataclass

from harness.evidence.history.operation import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """What one error means.

    :param reason: Why, in one sentence; it stands in the history beside the outcome.
    :param again: Whether the same request may be sent again before the operation's deadline; the outcome is what
        counts when that has passed.
    :param after_doubt: What a refusal means after doubt.
    """

    outcome: Outcome
    reason: str
    again: bool = False
    after_doubt: Outcome = Outcome.UNSURE


def outcome_after(row: OutcomeRow, *, doubt: bool) -> Outcome:
    """The outcome of an operation whose last answer is ``row``.

    >>> outcome_after(refused("the epoch is old"), doubt=True)
    <Outcome.UNSURE: 'unsure'>
    """
    return row.after_doubt if doubt and row.outcome is Outcome.REFUSED else row.outcome


def refused(reason: str, *, again: bool = False) -> OutcomeRow:
    """A row of an error after which this try certainly had no effect."""
    return OutcomeRow(outcome=Outcome.REFUSED, reason=reason, again=again)


def unsure(reason: str, *, again: bool = False) -> OutcomeRow:
    """A row of an error that may come after the effect."""
    return OutcomeRow(outcome=Outcome.UNSURE, reason=reason, again=again)
