"""What a liar does to a message; the gate's process loads it by the dotted name that stands in the rule.

A lie is made once for each rule and lives as long as it, so it may remember what it told. It sees the requests that
its rule takes and their answers, decoded; what it gives back is told in their place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from harness.faults.gate.request_info import LatestEpochs, RequestInfo
from harness.wire.frame_codec import changed


@dataclass(frozen=True, slots=True, kw_only=True)
class LiedRequest:
    """A request that a lie may change: its facts, its decoded body, and whose identities are the newest."""

    facts: RequestInfo
    body: object
    newest: LatestEpochs


@dataclass(frozen=True, slots=True)
class LiedResponse:
    """The body of an answer that the gate gives itself; the request is never forwarded."""

    body: object


class Lie(Protocol):
    """What is told instead. Whoever gives back the very object that it was given has told the truth."""

    def request(self, asked: LiedRequest) -> object | LiedResponse:
        """The body to forward, or an answer of our own."""
        ...

    def response(self, asked: LiedRequest, answer: object) -> object:
        """The body to answer with; ``asked`` is the request as its sender wrote it."""
        ...


def load(name: str) -> Lie:
    """The lie ``module:factory``, made anew; :raises ImportError, AttributeError: when there is none."""
    module, _, factory = name.partition(":")
    return cast(Lie, getattr(import_module(module), factory)())


def with_partitions(answer: object, change: Callable[[object], object]) -> object:
    """A Fetch answer with each partition's part changed; the very same answer where nothing changed."""
    topics = getattr(answer, "responses", ())
    told = tuple(_changed_topic(topic, change) for topic in topics)
    same = all(one is other for one, other in zip(told, topics, strict=True))
    return answer if same else changed(answer, responses=told)


def _changed_topic(topic: object, change: Callable[[object], object]) -> object:
    parts = getattr(topic, "partitions", ())
    told = tuple(change(part) for part in parts)
    same = all(one is other for one, other in zip(told, parts, strict=True))
    return topic if same else changed(topic, partitions=told)
