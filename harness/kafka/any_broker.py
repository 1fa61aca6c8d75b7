"""Asking a cluster when any of its brokers will do, and asking its controller.

A broker that is silent or does not offer the API is passed over. What only the controller takes is sent to the one
that Metadata names, because not every server hands such a request on as Kafka's brokers do (KIP-590).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from harness.base.kafka_error import KafkaError, error_name
from harness.base.unprepared import Unprepared
from harness.base.wait import Patience
from harness.kafka.retriable import TRANSIENT
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import NoAnswer, UnreadableAnswer, WireError

ResultT = TypeVar("ResultT", bound=ApiResult)
AnswerT = TypeVar("AnswerT")

ANSWER_SECONDS = 10.0
"""That a broker may take for an answer of its own."""
CONTROLLER_SECONDS = 30.0
"""That the controller may take for one change."""


@dataclass(frozen=True, slots=True)
class AnyBroker:
    """The brokers of a cluster, asked in their order."""

    client: WireClient
    brokers: Sequence[int]
    patience: Patience = field(default_factory=Patience)

    def first(self, request: ApiRequest[ResultT]) -> ResultT:
        """The answer of the first broker that gives one; :raises WireError: the last one's, when none does."""
        return self.of_first(lambda broker: self._ask(broker, request))

    def of_first(self, ask: Callable[[int], AnswerT]) -> AnswerT:
        """As :meth:`first`, for requests that differ from broker to broker."""
        for broker in self.brokers[:-1]:
            with suppress(WireError):
                return ask(broker)
        return ask(self.brokers[-1])

    def settled(self, request: ApiRequest[ResultT]) -> ResultT | None:
        """The first answer; None while its error may pass; :raises Unprepared: for any other error."""
        result = self.first(request)
        if result.error in TRANSIENT:
            return None
        if result.error:
            raise Unprepared(f"{request.api} answered {told(result)}")
        return result

    def each(self, request: ApiRequest[ResultT]) -> Mapping[int, ResultT]:
        """Every broker's answer, all asked at once; :raises WireError: when one gives none."""
        pending = [self.client.send(node, request, self.client.highest(node, request.api)) for node in self.brokers]
        try:
            return {each.node: each.wait(ANSWER_SECONDS).result for each in pending}
        except UnreadableAnswer:  # at that version; one after the other they are asked below it too
            return {node: self.client.call(node, request).result for node in self.brokers}

    def offers(self, api: str) -> bool:
        """Whether any broker advertises the API."""
        return any(api in self.client.offered(broker).apis for broker in self.brokers)

    def controller(self, request: ApiRequest[ResultT]) -> ResultT:
        """The answer of the controller, or of the first broker that hands the request on to it.

        :raises Unprepared: When no broker takes it.
        """
        refusals: list[str] = []
        for node in self._controller_first():
            try:
                result = self._ask(node, request, CONTROLLER_SECONDS)
            except WireError as error:
                refusals.append(str(error))
                continue
            if result.error != KafkaError.NOT_CONTROLLER:
                return result
            refusals.append(f"broker {node} is not the controller")
        raise Unprepared(f"{request.api} was not taken: {'; '.join(refusals)}")

    def _ask(self, node: int, request: ApiRequest[ResultT], full_seconds: float = ANSWER_SECONDS) -> ResultT:
        """Within the patience that is left for this broker: one that is silent is asked all the same."""
        with self.patience.within(full_seconds, f"an answer of broker {node}", in_vain=NoAnswer) as bound:
            return self.client.call(node, request, timeout_seconds=bound).result

    def _controller_first(self) -> Iterator[int]:
        """The controller as it is named now, then the others; it is looked up again after each that is not it."""
        left = list(self.brokers)
        while left:
            named = self.first(Metadata()).controller
            node = named if named in left else left[0]
            left.remove(node)
            yield node


def told(result: ApiResult) -> str:
    """An answer's error for a sentence: ``INVALID_REQUEST (42) and the broker's own words``."""
    return f"{error_name(result.error)} ({result.error}) {result.error_message or ''}".strip()
