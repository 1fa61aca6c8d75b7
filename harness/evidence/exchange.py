"""One request and its answer on the wire, as the journal keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.json_value import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request to one broker over one lane.

    ``sent`` and ``answered`` are milliseconds on the run's clock; ``answered`` is None when no answer came, and then
    ``failure`` says what happened instead (``closed``, ``no answer within 10 s``). ``request`` and ``answer`` are the
    decoded messages with snake-case keys; record batches are decoded in place, so nothing is left as bytes.
    ``number`` counts exchanges within the run, from 1.
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
    requirement: str | None = field(default=None)
