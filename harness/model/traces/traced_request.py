"""A request of a trace, as its client knows it."""

from msgspec import Struct

from harness.model.model_requests import ModelAnswer, ModelRequest


class TracedRequest(Struct, frozen=True, kw_only=True):
    """A request as its client knows it; producer ids are the cluster's.

    :param answer: None where there was none, or one that says nothing about the state, such as a retriable code.
    :param answered: When; None as ``answer``. :param who: The client, for people.
    :param copies: How many were sent alike; more than one only without an answer.
    :param until: When others that were sent then began to stand for them; None where none do.
    """

    request: ModelRequest
    sent: float
    answer: ModelAnswer | None = None
    answered: float | None = None
    who: str = ""
    copies: int = 1
    until: float | None = None
