"""What JUnit's reader gets of a verdict: named properties, which the plugin puts into ``item.user_properties``."""

from collections.abc import Mapping

from harness.base.json_value import Json
from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.level import Profile
from harness.contract.verdict import Verdict
from harness.evidence.history.judgement import Judgement
from harness.report.shared.run_metadata import run_metadata
from harness.report.shared.words import printable


def properties(row: RequirementRow, verdict: Verdict, profile: Profile, client: str = "") -> list[tuple[str, str]]:
    """Name and value pairs; ``anomaly`` comes once for each different one, ``known_failure`` only if listed.

    ``client`` is there where a client was judged.
    ``level`` is the verdict's: of VIOLATED that of its most binding finding.
    """
    pairs = [
        ("id", row.id),
        ("kip", row.kip),
        ("group", row.group),
        ("level", str(verdict.level)),
        ("profile", profile.value),
        ("status", verdict.status.value),
        ("witnesses", str(verdict.witnesses)),
    ]
    pairs += [("client", client)] if client else []
    pairs += [("anomaly", anomaly) for anomaly in dict.fromkeys(found.anomaly for found in verdict.findings)]
    pairs += [("reason", verdict.reason)] if verdict.reason else []
    pairs += [("known_failure", verdict.known_failure)] if verdict.known_failure else []
    return _printable(pairs)


def chaos_properties(judgement: Judgement, run: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Name and value pairs of a round; ``anomaly`` comes once for each; ``run`` is ``run.json``."""
    named = {name: run.get(name) for name in ("scenario", "seed", "workload", "target")}
    named["again"] = run_metadata(run).command or None
    pairs = [(name, str(value)) for name, value in named.items() if value is not None]
    pairs += [
        ("conclusion", judgement.status.value),
        ("checks", str(len(judgement.checks))),
        ("witnesses", str(sum(check.witnesses for check in judgement.checks))),
        ("findings", str(sum(judgement.anomalies.values()))),
    ]
    pairs += [("anomaly", name) for name in judgement.anomalies]
    pairs += [("undecided", f"{check.name}: {check.undecided}") for check in judgement.checks if check.undecided]
    return _printable([*pairs, *(("note", note) for note in judgement.notes)])


def _printable(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, printable(text)) for name, text in pairs]  # one control character makes an XML file unreadable
