"""Steps: requests whose transient refusals are repeated within a bound, counted, and shown in the evidence.

A sound broker may answer NOT_ENOUGH_REPLICAS or CONCURRENT_TRANSACTIONS for a moment (coordinator not yet found,
markers under way). Tries are counted in the step, and every exchange is in the journal; a step that
judges a transient refusal turns repeating off with ``retry=()``.
Where the same refusal, or silence, has used up the bound before, less is waited (:mod:`harness.base.wait`).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError, error_name
from harness.base.unprepared import Unprepared
from harness.base.wait import SHORT_SECONDS, Patience
from harness.evidence.json_codec import to_plain
from harness.evidence.requirement_evidence import Step
from harness.kafka.retriable import TRANSIENT
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.told_offsets import told_step
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.wire_client import PendingResponse, WireClient
from harness.wire.wire_errors import NoAnswer, WireError

__all__ = ["BOUND", "RETRIABLE", "ResultT", "StepRecorder", "Unprepared"]

ResultT = TypeVar("ResultT", bound=ApiResult)

RETRIABLE = TRANSIENT
"""Errors after which a step is repeated by default."""
COMPLETION = "completion"
"""The kind of wait that all waits for markers are: for a state, an offset, or the end of CONCURRENT_TRANSACTIONS."""
BOUND = 10.0
"""Seconds that a request, its retries included, may take on a cluster that nothing disturbs."""


@dataclass(frozen=True, slots=True)
class StepRecorder:
    """One actor's requests, over its own client, noted in the evidence.

    :param proxies: The proxy to each node on this actor's lane.
    :param another: Gives the same over a client of its own; None where there is none.
    """

    actor: str
    client: WireClient
    notes: EvidenceBuilder
    clock: RunClock
    proxies: Mapping[int, str]
    patience: Patience = field(default_factory=Patience)
    another: "Callable[[], StepRecorder] | None" = None

    def ask(
        self,
        node: int,
        api_request: ApiRequest[ResultT],
        version: int,
        *,
        as_: str | None = None,
        request: Mapping[str, Json] | None = None,
        retry: Collection[int] = RETRIABLE,
        timeout_seconds: float | None = None,
    ) -> Step:
        """Ask until the answer is not in ``retry`` or ``timeout_seconds`` seconds are over (None: :data:`BOUND`).

        A bound that is given is kept to the letter; without one the run's patience may shorten it.

        A step with a name (``as_``) is noted as evidence, whatever the answer; one without is preparation.

        :param request: The fields of the request that the step keeps.
        :raises Unprepared: When preparation failed.
        """
        asked = self.asked(
            node, api_request, version, as_=as_, request=request, retry=retry, timeout_seconds=timeout_seconds
        )
        return self.kept(asked, as_)

    def asked(
        self,
        node: int,
        api_request: ApiRequest[ResultT],
        version: int,
        *,
        as_: str | None = None,
        request: Mapping[str, Json] | None = None,
        retry: Collection[int] = RETRIABLE,
        timeout_seconds: float | None = None,
    ) -> Step:
        """As :meth:`ask`, for an answer that must still be seen to count: nothing is noted, nothing is demanded."""
        patience, full = self._patience(timeout_seconds), BOUND if timeout_seconds is None else timeout_seconds
        began, started, tries, refused = self.clock.now(), patience.now(), 1, tuple[str, ...]()
        while True:
            left = max(0.1, started + full - patience.now())
            pending = self.start(node, api_request, version)
            step = self._step(pending, as_ or api_request.api, request or {}, tries, left, patience)
            if step.error is not None and step.error not in retry:
                patience.met(*refused)
                break
            refused = refused if step.error is None else _refusal(step)
            if patience.now() - started >= patience.bound(full, *refused):
                patience.exhausted(*refused)
                break
            if step.error is None:
                break
            tries += 1
            patience.pause(min(0.01 * tries, 0.1))
        return replace(step, waited_ms=round(self.clock.now() - began, 3))

    def answer(self, node: int, request: ApiRequest[ResultT], version: int) -> ResultT:
        """An answer that becomes no step, within the run's patience; :raises WireError: when none comes."""
        pending, kinds = self.client.send(node, request, version), _silence(request.api, node)
        try:
            result = pending.wait(self.patience.bound(BOUND, *kinds)).result
        except NoAnswer:
            self.patience.exhausted(*kinds)
            raise
        self.patience.met(*kinds)
        return result

    def start(self, node: int, request: ApiRequest[ResultT], version: int) -> PendingResponse[ResultT]:
        """Send without waiting; :raises Unprepared: when the broker does not offer the version."""
        try:
            return self.client.send(node, request, version)
        except WireError as error:
            raise Unprepared(str(error)) from error

    def finish(
        self,
        pending: PendingResponse[ResultT],
        *,
        as_: str | None,
        request: Mapping[str, Json],
        timeout_seconds: float | None = None,
    ) -> Step:
        """Wait for the answer of a request that was started; noted as :meth:`ask` does."""
        patience, full = self._patience(timeout_seconds), BOUND if timeout_seconds is None else timeout_seconds
        began = self.clock.now()
        step = self._step(pending, as_ or pending.api, request, 1, full, patience)
        return self.kept(replace(step, waited_ms=round(self.clock.now() - began, 3)), as_)

    def not_looked(self, node: int, api: str, *, as_: str | None, request: Mapping[str, Json]) -> Step:
        """A look that the target does not offer, noted where it has a name: its absence is no evidence."""
        step = Step(
            name=as_ or api,
            api=api,
            version=-1,
            error=None,
            request=request,
            actor=self.actor,
            node=node,
            sent=self.clock.now(),
            answered=None,
            looked=False,
        )
        return step if as_ is None else self.kept(step, as_)

    def kept(self, step: Step, as_: str | None) -> Step:
        """Note a named step; of an unnamed one demand success; :raises Unprepared: when it failed."""
        if as_ is not None:
            return self.notes.step(step, proxy=self.proxies.get(step.node))
        if step.error != 0:
            answer = f"{step.outcome(step.error)} {step.fields.get('error_message') or ''}".strip()
            raise Unprepared(f"{step.call} to broker {step.node} answered {answer}, {step.tries} tries")
        return step

    def _patience(self, timeout_seconds: float | None) -> Patience:
        """The run's, or where a bound is given, one that knows of nothing in vain."""
        return self.patience if timeout_seconds is None else self.patience.fresh()

    def _step(
        self,
        pending: PendingResponse[ResultT],
        name: str,
        request: Mapping[str, Json],
        tries: int,
        timeout_seconds: float,
        patience: Patience,
    ) -> Step:
        """The answer as a step; without an answer in time ``error`` is None and ``fields`` has the ``failure``."""
        error, answered, values = None, None, dict[str, Json]()
        kinds = _silence(pending.api, pending.node)
        try:
            answer = pending.wait(patience.bound(timeout_seconds, *kinds))
        except NoAnswer as silence:
            if timeout_seconds >= SHORT_SECONDS:  # less than that was only left over by tries before
                patience.exhausted(*kinds)
            if patience is self.patience:  # a broker answers in order: on this connection all others would wait as well
                self.client.leave(pending.node)
            values["failure"] = str(silence)
        except WireError as failure:
            values["failure"] = str(failure)
        else:
            patience.met(*kinds)
            error, answered, values = answer.result.error, answer.exchange.answered, _fields(answer.result)
        step = Step(
            name=name,
            api=pending.api,
            version=pending.version,
            error=error,
            fields=values,
            request=request,
            actor=self.actor,
            node=pending.node,
            sent=pending.sent,
            answered=answered,
            tries=tries,
            exchange=pending.number,
        )
        return told_step(step, self.notes.starts, self.notes.foreign)


def _silence(api: str, node: int) -> tuple[str, str]:
    """Kinds of waits that an unanswered request is one of."""
    return f"an answer to {api}", f"an answer of broker {node}"


def _refusal(step: Step) -> tuple[str, ...]:
    """Likewise of a request that is refused for now: the error alone is one too, whatever the API."""
    error = error_name(step.error or 0)
    completing = (COMPLETION,) if step.error == KafkaError.CONCURRENT_TRANSACTIONS else ()
    return *completing, error, f"{step.api} answered {error}"


def _fields(result: ApiResult) -> dict[str, Json]:
    values = to_plain(result)
    assert isinstance(values, dict)
    return {name: value for name, value in values.items() if name != "error"}
