"""What a check may only judge where the machine was quick enough."""

from harness.evidence.requirement_evidence import NotSeen, Step


def in_time(first: Step, last: Step, *, timeout_ms: int) -> None:
    """The transaction from ``first`` to ``last`` was ended before its own timeout was over.

    :raises NotSeen: When it was not: what became of it then is no broken promise.
    """
    ended = last.sent if last.answered is None else last.answered
    if ended - first.sent > timeout_ms:
        raise NotSeen(f"the machine was too slow: {last.name!r} came {ended - first.sent:.0f} ms after {first.name!r}")
