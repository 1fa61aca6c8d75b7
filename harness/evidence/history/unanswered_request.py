"""What brokers would not tell after settling (``facts.unanswered`` of ``run.json``)."""

from dataclasses import dataclass

UNANSWERED = "unanswered"
"""The fact: a list of :class:`UnansweredRequest`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredRequest:
    """A request for what a broker keeps that was sent again and again, and never brought what was asked for.

    :param of: The transactional id, partition, group or broker that was asked about.
    :param error: Kafka's code of the last answer; None where none came.
    :param waited_ms: Milliseconds from the first try to the last.
    """

    api: str
    of: str
    error: int | None
    waited_ms: float
