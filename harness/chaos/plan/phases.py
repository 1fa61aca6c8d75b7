"""The phases of a round while its roles run: ``storm`` where a fault was on, ``calm`` where none was."""

from collections.abc import Iterator, Sequence

from harness.evidence.history.operation import FaultWindow, Phase


def phases(faults: Sequence[FaultWindow], began_ms: float, ended_ms: float) -> Iterator[Phase]:
    """Both kinds in turn, from beginning to end, without gaps; times are run-clock milliseconds.

    >>> fault = FaultWindow(name="f", kind="network", where="", started=2.0, ended=4.0, struck=1, how="")
    >>> [(phase.name, phase.started, phase.ended) for phase in phases([fault], 0.0, 5.0)]
    [('calm', 0.0, 2.0), ('storm', 2.0, 4.0), ('calm', 4.0, 5.0)]
    """
    at_ms = began_ms
    for started_ms, healed_ms in merged(faults):
        if started_ms > at_ms:
            yield Phase(name="calm", started=at_ms, ended=started_ms)
        yield Phase(name="storm", started=started_ms, ended=healed_ms)
        at_ms = healed_ms
    if ended_ms > at_ms:
        yield Phase(name="calm", started=at_ms, ended=ended_ms)


def merged(faults: Sequence[FaultWindow]) -> list[tuple[float, float]]:
    """Beginning and end of each stretch with a fault on, in order and without overlaps."""
    joined: list[tuple[float, float]] = []
    for fault in sorted(faults, key=lambda fault: fault.started):
        if joined and fault.started <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], fault.ended))
        else:
            joined.append((fault.started, fault.ended))
    return joined
