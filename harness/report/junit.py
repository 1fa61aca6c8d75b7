"""What JUnit's reader gets of a verdict: named properties, which the plugin puts into ``item.user_properties``."""

from harness.contract.catalogue import Row
from harness.contract.verdict import Verdict
from harness.report.words import printable


def properties(row: Row, verdict: Verdict) -> list[tuple[str, str]]:
    """Name and value pairs; ``anomaly`` comes once for each different one, ``known_failure`` only if listed."""
    told = [
        ("id", row.id),
        ("kip", row.kip),
        ("group", row.group),
        ("level", row.level),
        ("status", verdict.status.value),
        ("witnesses", str(verdict.witnesses)),
    ]
    told += [("anomaly", anomaly) for anomaly in dict.fromkeys(found.anomaly for found in verdict.findings)]
    told += [("reason", verdict.reason)] if verdict.reason else []
    told += [("known_failure", verdict.known_failure)] if verdict.known_failure else []
    return [(name, printable(text)) for name, text in told]  # one control character makes an XML file unreadable
