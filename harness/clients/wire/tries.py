"""What has happened so far to one operation that may take several tries, and what each answer makes of it.

The rules stand in :mod:`harness.clients.client`; here they are applied, for clients that wait and for those that
pipeline.
"""

from dataclasses import dataclass

from harness.clients.client import CallResult
from harness.clients.outcome_table import outcome_after
from harness.clients.wire.connections import NotSent
from harness.clients.wire.wire_outcomes import row_of
from harness.evidence.history.operation import Outcome
from harness.wire.wire_errors import WireError


@dataclass(slots=True)
class Tries:
    """The tries of one operation.

    :param doubt: Explained in :mod:`harness.clients.outcome_table`.
    """

    sent: int = 0
    doubt: bool = False
    error: int | None = None
    reason: str = "no broker to send it to was found"

    def answered(self, api: str, error: int, *, passing: bool = False) -> CallResult | None:
        """The result that an answer makes final; None where it may be tried again.

        :param passing: Take a refusal as one that passes, though its row does not say so.
        """
        self.sent += 1
        self.error = error
        if not error:
            self.reason = ""
            return self._result(Outcome.DONE)
        row = row_of(api, error)
        self.reason = row.reason
        if row.again or passing:
            self.doubt = self.doubt or row.outcome is Outcome.UNSURE
            return None
        if self.doubt:
            self.reason += ", after doubt"
        return self._result(outcome_after(row, doubt=self.doubt))

    def unanswered(self, error: WireError, *, repeatable: bool = True) -> CallResult | None:
        """As :meth:`answered`, for a try without an answer; one that was never written is no try."""
        self.reason = str(error)
        if isinstance(error, NotSent):
            return None
        self.sent += 1
        self.error, self.doubt = None, True
        return None if repeatable else self.given_up()

    def given_up(self) -> CallResult:
        """The result where nothing more is tried."""
        return self._result(Outcome.UNSURE if self.doubt else Outcome.REFUSED)

    def _result(self, outcome: Outcome) -> CallResult:
        return CallResult(outcome=outcome, error=self.error, reason=self.reason, tries=self.sent)
