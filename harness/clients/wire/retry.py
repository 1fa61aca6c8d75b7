"""Trying a request until it is answered for good or the operation's bound has passed: the rule of the port, in code.

A try that an answer refused in passing (``again``) did nothing and may be repeated. A try that went unanswered may
have been worked on, or may be worked on later, when it arrives late: it may be repeated only where the broker can tell
the repetition from a new request (a batch by its sequence, an end of Transactions V2 by its epoch), and whatever
follows is said *after doubt*.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.base import wait
from harness.clients.client import CallResult
from harness.clients.outcome_table import outcome_after
from harness.clients.wire.connections import Attempt, Connections
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.routes import Routes, Where
from harness.clients.wire.wire_outcomes import row_of
from harness.evidence.operation import Outcome
from harness.kafka.retriable import STALE_ROUTE
from harness.wire.api_request import ApiRequest, ApiResult

R = TypeVar("R", bound=ApiResult)
FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.1
"""Seconds between two tries; doubled each time, as clients' ``retry.backoff.ms`` is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryResult(Generic[R]):
    """What a request came to after all its tries.

    :param result: The answer without error, if there was one.
    :param refusal: The answer with the error that settled it, if there was one.
    """

    outcome: Outcome
    error: int | None
    reason: str
    tries: int
    result: R | None = None
    refusal: R | None = None

    @property
    def done(self) -> bool:
        """Whether it certainly happened."""
        return self.outcome is Outcome.DONE

    def answer(self, *, earlier: int = 0) -> CallResult:
        """As the port tells it; ``earlier`` are tries of requests that had to come before."""
        return CallResult(outcome=self.outcome, error=self.error, reason=self.reason, tries=self.tries + earlier)

    def never_sent(self, what: str) -> CallResult:
        """The answer of an operation whose own request was not sent, since this one before it was not done."""
        why = self.reason or "it was not answered"
        reason = f"{what} was never sent: {why}"
        return CallResult(outcome=Outcome.REFUSED, error=self.error, reason=reason, tries=self.tries)


@dataclass(slots=True)
class _Count:
    """What has happened so far."""

    tries: int = 0
    doubt: bool = False
    error: int | None = None
    reason: str = "nobody to ask was found"


@dataclass(frozen=True, slots=True)
class Retry:
    """Asks on one channel, with its routes."""

    channel: Connections
    routes: Routes

    def ask(
        self, verb: ApiRequest[R], where: Where, bound: Deadline, *, patience: float, repeatable: bool
    ) -> RetryResult[R]:
        """Ask until there is an answer for good.

        :param where: Who is to be asked; looked up before every try.
        :param patience: Seconds that one try may go unanswered.
        :param repeatable: Whether it may be sent again after an unanswered try.
        """
        count = _Count()
        pause = FIRST_PAUSE
        while True:
            node = where(bound)
            if node is None:
                self.routes.forget(verb.api)
            elif settled := self._once(node, verb, min(patience, bound.left), count, repeatable):
                return settled
            if bound.over:
                return _given_up(count)
            wait.pause(min(pause, bound.left))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _once(
        self, node: int, verb: ApiRequest[R], within: float, count: _Count, repeatable: bool
    ) -> RetryResult[R] | None:
        heard = self.channel.ask(node, verb, within)
        count.tries += heard.sent
        if heard.result is None:
            return self._silent(heard, verb.api, count, repeatable)
        count.error = heard.result.error
        if count.error == 0:
            return RetryResult(outcome=Outcome.DONE, error=0, reason="", tries=count.tries, result=heard.result)
        return self._refused(verb.api, heard.result, count)

    def _silent(self, heard: Attempt[R], api: str, count: _Count, repeatable: bool) -> RetryResult[R] | None:
        self.routes.forget(api)
        count.reason = heard.reason
        if not heard.sent:
            return None
        count.error, count.doubt = None, True
        return None if repeatable else _given_up(count)

    def _refused(self, api: str, result: R, count: _Count) -> RetryResult[R] | None:
        row = row_of(api, result.error)
        count.reason = row.reason
        if result.error in STALE_ROUTE:
            self.routes.forget(api)
        if row.again:
            count.doubt = count.doubt or row.outcome is Outcome.UNSURE
            return None
        outcome = outcome_after(row, doubt=count.doubt)
        reason = f"{row.reason}, after doubt" if count.doubt else row.reason
        return RetryResult(outcome=outcome, error=result.error, reason=reason, tries=count.tries, refusal=result)


def _given_up(count: _Count) -> RetryResult[R]:
    outcome = Outcome.UNSURE if count.doubt else Outcome.REFUSED
    return RetryResult(outcome=outcome, error=count.error, reason=count.reason, tries=count.tries)
