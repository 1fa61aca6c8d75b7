"""The phases of a round while roles played: storms are where a fault was on, calm is the rest."""

from collections.abc import Iterator, Sequence

from harness.evidence.operation import FaultWindow, Phase


def phases(faults: Sequence[FaultWindow], began: float, ended: float) -> Iterator[Phase]:
    """Calm and storm in turn, from ``began`` to ``ended``, without gaps; times are run-clock milliseconds.

    >>> fault = FaultWindow(name="f", kind="network", where="", started=2.0, ended=4.0, struck=1, how="")
    >>> [(phase.name, phase.started, phase.ended) for phase in phases([fault], 0.0, 5.0)]
    [('calm', 0.0, 2.0), ('storm', 2.0, 4.0), ('calm', 4.0, 5.0)]
    """
    at = began
    for started, finished in merged(faults):
        if started > at:
            yield Phase(name="calm", started=at, ended=started)
        yield Phase(name="storm", started=started, ended=finished)
        at = finished
    if ended > at:
        yield Phase(name="calm", started=at, ended=ended)


def merged(faults: Sequence[FaultWindow]) -> list[tuple[float, float]]:
    """The windows without overlaps, in order."""
    joined: list[tuple[float, float]] = []
    for fault in sorted(faults, key=lambda fault: fault.started):
        if joined and fault.started <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], fault.ended))
        else:
            joined.append((fault.started, fault.ended))
    return joined
