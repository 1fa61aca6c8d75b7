"""A round's distributions: view models for its page, plain JSON for its document."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.evidence.history.spreads import Interruption, Spread, StableOffsetLag
from harness.evidence.json_codec import to_plain
from harness.report.chaos.compared.session_times import recovered, settled
from harness.report.chaos.round_results import RoundResults
from harness.report.shared.words import duration

NOTHING = ("–", "–", "–")


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptionRow:
    """A fault and a client; three cells each: median, 95th percentile, longest."""

    fault: str
    client: str
    faults: str
    values: str
    unavailable: tuple[str, ...]
    recovered: tuple[str, ...]
    not_again: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadTables:
    """The tables of a page.

    :param times: What, how long.
    :param lags: Phase, samples, median, 95th and 99th percentile, largest.
    """

    times: tuple[tuple[str, str], ...]
    interruptions: tuple[InterruptionRow, ...]
    lags: tuple[tuple[str, ...], ...]


def round_tables(round_: RoundResults) -> SpreadTables:
    return SpreadTables(
        times=tuple(_times(round_)),
        interruptions=tuple(map(interruption_row, interruptions_of(round_))),
        lags=tuple(lag_row(each) for each in lags_of(round_)),
    )


def interruptions_of(round_: RoundResults) -> tuple[Interruption, ...]:
    return (round_.timeline.interruptions or ()) if round_.timeline else ()


def lags_of(round_: RoundResults) -> tuple[StableOffsetLag, ...]:
    return (round_.timeline.lags or ()) if round_.timeline else ()


def spreads_document(round_: RoundResults) -> dict[str, Json]:
    """The same for ``report.json``; null where the round was not measured."""
    timeline, facts = round_.timeline, round_.facts
    measured = timeline is not None and timeline.interruptions is not None
    return {
        "settled_ms": settled(facts),
        "recovered_ms": recovered(facts),
        "settle": dict(_conditions(round_)),
        "interruptions": [to_plain(each) for each in interruptions_of(round_)] if measured else None,
        "lags": [to_plain(each) for each in lags_of(round_)] if measured else None,
    }


def interruption_row(each: Interruption) -> InterruptionRow:
    return InterruptionRow(
        fault=each.fault,
        client=each.client,
        faults=f"{each.faults:,}",
        values=f"{each.unavailable.count:,}",
        unavailable=times_in(each.unavailable),
        recovered=times_in(each.recovered),
        not_again=f"{each.not_again:,}" if each.not_again else "–",
    )


def times_in(spread: Spread | None) -> tuple[str, ...]:
    """Median, 95th percentile and longest in words."""
    return NOTHING if spread is None else tuple(map(duration, (spread.p50, spread.p95, spread.most)))


def lag_row(each: StableOffsetLag) -> tuple[str, ...]:
    lag = each.lag
    offsets = (f"{value:,.0f}" for value in (lag.p50, lag.p95, lag.p99, lag.most))
    return (each.phase or "outside all", f"{lag.count:,}", *offsets)


def _times(round_: RoundResults) -> Iterator[tuple[str, str]]:
    names = {"time to recover": recovered(round_.facts), "settle time": settled(round_.facts)}
    for name, ms in (*names.items(), *_conditions(round_)):
        if isinstance(ms, int | float):
            yield name, duration(ms)


def _conditions(round_: RoundResults) -> Iterator[tuple[str, Json]]:
    """After how long each condition of settling was met to the end; null where it was not."""
    settle = round_.facts.get("settle")
    for name, condition in settle.items() if isinstance(settle, dict) else ():
        if isinstance(condition, dict) and "ms" in condition:
            yield name.replace("_", " "), condition["ms"]
