"""Evidence by hand of two stimuli, one after the other, on one partition."""

from dataclasses import replace

from harness.evidence.requirement_evidence import Evidence


def both(first: Evidence, second: Evidence) -> Evidence:
    """The calls, requests and committed records of both."""
    shift = first.calls[-1].answered + 10
    calls = [replace(each, started=each.started + shift, answered=each.answered + shift) for each in second.calls]
    frames = [replace(each, at=each.at + shift) for each in second.frames]
    together = replace(first, calls=(*first.calls, *calls), frames=(*first.frames, *frames))
    shown = (*first.log("P1").committed, *second.log("P1").committed)
    return together.with_log("P1", committed=shown)
