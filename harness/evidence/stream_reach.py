"""How far a streaming reader came: the result of the reader's port, as the lab uses it."""

from dataclasses import dataclass


class ReaderFailed(Exception):
    """The reader's query ended with an exception: this is no evidence about the broker. The text is one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far the reader came on one partition, against the high watermark that the observer had read.

    ``reached_ms`` is milliseconds from the question until the end offset was there, None when it was not in time.
    """

    end_offset: int
    wanted: int
    reached_ms: float | None
