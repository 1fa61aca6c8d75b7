"""A round's row in the table of rounds, from its folder: plain values, null where the round did not come so far."""

from collections.abc import Mapping
from datetime import datetime

from harness.base.json_value import Json
from harness.evidence.json_codec import to_plain
from harness.report.chaos.measured.round_spreads import interruptions_of, lags_of, spreads_document
from harness.report.chaos.round_results import RoundResults
from harness.report.shared.run_metadata import field_text

UNKNOWN = "unknown"


def trend_row(round_: RoundResults) -> Mapping[str, Json]:
    """The columns of :data:`harness.spark.trends.trend_table.COLUMNS`."""
    timeline, spreads = round_.timeline, spreads_document(round_)
    return {
        **_identity(round_),
        "conclusion": round_.conclusion,
        "anomalies": dict(round_.anomalies),
        "seconds": round_.about.seconds,
        "played_seconds": (timeline.ended - timeline.started) / 1000 if timeline else None,
        "operations": timeline.operations if timeline else None,
        "committed": timeline.committed if timeline else None,
        "faults": len(round_.faults),
        "struck": len(round_.faults) - len(round_.missed),
        "settled_ms": _double(spreads["settled_ms"]),
        "recovered_ms": _double(spreads["recovered_ms"]),
        "unavailable_ms": max((each.unavailable.most for each in interruptions_of(round_)), default=None),
        "lag": max((int(each.lag.most) for each in lags_of(round_)), default=None),
        "interruptions": spreads["interruptions"],
        "lags": spreads["lags"],
        "latencies": [to_plain(each) for each in timeline.latencies] if timeline else None,
    }


def _identity(round_: RoundResults) -> dict[str, Json]:
    about, seed = round_.about, round_.about.seed
    release = field_text(about.versions.get("kafka")) or about.name
    return {
        "release": release or UNKNOWN,
        "scenario": round_.scenario,
        "day": _day(about.started),
        "session": round_.folder.parent.name,
        "round": round_.folder.name,
        "folder": str(round_.folder),
        "target": about.target,
        "backend": about.backend,
        "seed": seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        "started": about.started,
    }


def _day(started: str) -> str:
    try:
        return datetime.fromisoformat(started).date().isoformat()
    except ValueError:
        return UNKNOWN


def _double(ms: Json) -> float | None:
    return float(ms) if isinstance(ms, int | float) else None
