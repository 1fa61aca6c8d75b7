"""One request and its response on the wire: a line of the journal."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.json_value import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request to one broker over one lane, and what came of it.

    :param number: From 1, in the order of sending; unique in a run, and the correlation id on the wire.
    :param actor: Who sent it; its client id.
    :param lane: The listener that it went to (:data:`harness.base.addresses.Lane`, or ``users``).
    :param node: The broker's id.
    :param api: The API's name in Kafka's spelling; ``key`` is its number.
    :param sent: When it was written, in milliseconds on the run's clock.
    :param answered: When the response came; None when none came.
    :param request: The decoded message, keys in snake case; record batches are decoded in place, nothing is bytes.
    :param answer: The decoded response, likewise; None when none came, or when it could not be decoded.
    :param failure: What happened instead of a response that can be read (``closed``, ``no answer``, ``unreadable: …``).
    :param requirement: The requirement for which it was sent.
    """

    number: int
    actor: str
    lane: str
    node: int
    api: str
    key: int
    version: int
    sent: float
    answered: float | None
    request: Mapping[str, Json]
    answer: Mapping[str, Json] | None = None
    failure: str | None = None
    requirement: str | None = None
