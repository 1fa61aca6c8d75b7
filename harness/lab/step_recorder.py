"""Asking a broker: retriable answers are tried again within a bound, counted, and shown in the evidence.

A sound broker may answer NOT_ENOUGH_REPLICAS or CONCURRENT_TRANSACTIONS for a moment (coordinator not yet found,
markers under way). Trying again is honest only because the tries are counted in the step and every exchange is in the
journal; a step that judges a retriable answer turns it off with ``retry=()``.
"""

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.kafka_error import error_name
from harness.evidence.json_codec import to_json
from harness.evidence.requirement_evidence import Step
from harness.lab.evidence_builder import EvidenceBuilder
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.wire_client import PendingResponse, Response, WireClient
from harness.wire.wire_errors import WireError

ResultT = TypeVar("ResultT", bound=ApiResult)

RETRIABLE = frozenset({3, 6, 7, 14, 15, 16, 19, 51})
"""UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, REQUEST_TIMED_OUT, COORDINATOR_LOAD_IN_PROGRESS,
COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, NOT_ENOUGH_REPLICAS, CONCURRENT_TRANSACTIONS."""

BOUND = 10.0
"""Seconds that a request, its retries included, may take on a cluster that nothing disturbs."""


class Unprepared(Exception):
    """The situation could not be brought about; the text says which step failed. The verdict is NOT_EXERCISED."""


@dataclass(frozen=True, slots=True)
class StepRecorder:
    """One actor's way of asking: over its own client, into the notes."""

    actor: str
    client: WireClient
    notes: EvidenceBuilder
    clock: RunClock
    proxies: Mapping[int, str]

    def ask(
        self,
        node: int,
        verb: ApiRequest[ResultT],
        version: int,
        *,
        as_: str | None = None,
        request: Mapping[str, Json] | None = None,
        retry: Collection[int] = RETRIABLE,
        within: float = BOUND,
    ) -> Step:
        """Ask until the answer is not in ``retry`` or ``within`` seconds are over.

        A step with a name (``as_``) is noted as evidence, whatever came; one without is preparation.

        :raises Unprepared: When preparation failed.
        """
        deadline = time.monotonic() + within
        tries = 1
        while True:
            step = self._once(node, verb, version, as_ or verb.api, request or {}, tries, deadline)
            if step.error not in retry or time.monotonic() >= deadline:
                return self.kept(step, as_)
            tries += 1
            wait.pause(min(0.01 * tries, 0.1))

    def start(self, node: int, verb: ApiRequest[ResultT], version: int) -> PendingResponse[ResultT]:
        """Send without waiting; :raises Unprepared: when the broker does not offer the version."""
        try:
            return self.client.send(node, verb, version)
        except WireError as error:
            raise Unprepared(str(error)) from error

    def finish(
        self, pending: PendingResponse[ResultT], *, as_: str | None, request: Mapping[str, Json], within: float = BOUND
    ) -> Step:
        """Wait for the answer of a request that was started; noted as :meth:`ask` does."""
        return self.kept(self._answered(pending, as_ or pending.api, request, 1, within), as_)

    def kept(self, step: Step, as_: str | None) -> Step:
        """Note a named step; of an unnamed one demand success; :raises Unprepared: when it failed."""
        if as_ is not None:
            return self.notes.step(step, proxy=self.proxies.get(step.node))
        if step.error != 0:
            answer = f"{error_name(step.error)} ({step.error}) {step.fields.get('error_message') or ''}".strip()
            raise Unprepared(f"{step.api} v{step.version} to broker {step.node} answered {answer}, {step.tries} tries")
        return step

    def _once(
        self,
        node: int,
        verb: ApiRequest[ResultT],
        version: int,
        name: str,
        request: Mapping[str, Json],
        tries: int,
        deadline: float,
    ) -> Step:
        pending = self.start(node, verb, version)
        return self._answered(pending, name, request, tries, max(0.1, deadline - time.monotonic()))

    def _answered(
        self, pending: PendingResponse[ResultT], name: str, request: Mapping[str, Json], tries: int, within: float
    ) -> Step:
        try:
            return _step(pending.wait(within), pending, name, request, tries, self.actor)
        except WireError as silence:
            return _silent(pending, name, request, tries, self.actor, str(silence))


def _step(
    answer: Response[ResultT],
    pending: PendingResponse[ResultT],
    name: str,
    request: Mapping[str, Json],
    tries: int,
    actor: str,
) -> Step:
    fields = _fields(answer.result)
    return Step(
        name=name,
        api=pending.api,
        version=pending.version,
        error=answer.result.error,
        fields=fields,
        request=request,
        actor=actor,
        node=pending.node,
        sent=pending.sent,
        answered=answer.exchange.answered,
        tries=tries,
        exchange=pending.number,
    )


def _fields(result: ApiResult) -> dict[str, Json]:
    plain: dict[str, Json] = json.loads(to_json(result))
    return {name: value for name, value in plain.items() if name != "error"}


def _silent(
    pending: PendingResponse[ResultT], name: str, request: Mapping[str, Json], tries: int, actor: str, failure: str
) -> Step:
    return Step(
        name=name,
        api=pending.api,
        version=pending.version,
        error=None,
        fields={"failure": failure},
        request=request,
        actor=actor,
        node=pending.node,
        sent=pending.sent,
        answered=None,
        tries=tries,
        exchange=pending.number,
    )
