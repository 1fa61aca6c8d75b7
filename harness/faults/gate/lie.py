"""What a liar does to a message; the gate's process loads it by the dotted name in the rule.

A lie is made once for each rule and lives as long as it, so it may keep state. It gets the requests that its rule takes
and their responses, decoded; what it returns is sent in their place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from harness.base.json_value import Json
from harness.faults.gate.request_info import LatestEpochs, RequestInfo
from harness.wire.frame_codec import changed


@dataclass(frozen=True, slots=True, kw_only=True)
class LiedRequest:
    """A request that a lie may change: its ids and identities, its decoded body, and the latest identities."""

    info: RequestInfo
    body: object
    latest: LatestEpochs


@dataclass(frozen=True, slots=True)
class LiedResponse:
    """The body of a response that the gate gives itself; the request is never forwarded."""

    body: object


class Lie(Protocol):
    """Rewrites messages. Return the same object to change nothing."""

    def request(self, asked: LiedRequest) -> object | LiedResponse:
        """The body to forward, or a response of our own."""

    def response(self, asked: LiedRequest, body: object) -> object:
        """The body to respond with; ``asked`` is the request as its sender wrote it."""


def load(name: str, arguments: Mapping[str, Json]) -> Lie:
    """The lie ``module:factory``, a new one; :raises ImportError, AttributeError, TypeError: when there is none."""
    module, _, factory = name.partition(":")
    return cast(Lie, getattr(import_module(module), factory)(**arguments))


def with_partitions(body: object, change: Callable[[object], object]) -> object:
    """A Fetch response with each partition's part changed; the very same object where nothing changed."""
    topics = getattr(body, "responses", ())
    rewritten = tuple(_changed_topic(topic, change) for topic in topics)
    same = all(one is other for one, other in zip(rewritten, topics, strict=True))
    return body if same else changed(body, responses=rewritten)


def _changed_topic(topic: object, change: Callable[[object], object]) -> object:
    parts = getattr(topic, "partitions", ())
    rewritten = tuple(change(part) for part in parts)
    same = all(one is other for one, other in zip(rewritten, parts, strict=True))
    return topic if same else changed(topic, partitions=rewritten)
