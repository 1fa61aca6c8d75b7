"""``report.json`` for machines: one document with the target, the counts and every verdict.

Its schema is ``reports/report.schema.json``; the selfcheck holds the two together.
"""

from collections.abc import Sequence

from harness.base.json_value import Json
from harness.contract.verdict import Verdict
from harness.report.contract.changes import against, changes
from harness.report.contract.results import RequirementResult, all_pass, headline
from harness.report.shared.run_metadata import RunMetadata
from harness.report.shared.status_marks import counted

REPORT_FORMAT = 1
"""Version of the document; a field may be added without a new one."""


def document(about: RunMetadata, entries: Sequence[RequirementResult], notes: Sequence[str]) -> dict[str, Json]:
    """Plain JSON; ``verdicts`` holds what was judged, in catalogue order, ``not_judged`` the ids of the rest."""
    return {
        "format": REPORT_FORMAT,
        "answer": headline(about.name, entries),
        "target": _target(about),
        "client": about.client or None,
        "seed": about.seed,
        "command": about.command,
        "started": about.started,
        "seconds": about.seconds,
        "fencepost": about.fencepost,
        "profile": about.profile.value,
        "passes": all_pass(entries),
        "summary": dict(counted(entry.verdict.status.value for entry in entries if entry.verdict)),
        "verdicts": [_verdict(entry, entry.verdict) for entry in entries if entry.verdict],
        "not_judged": [entry.row.id for entry in entries if not entry.verdict],
        "notes": list(notes),
        "against": against(about) or None,
        "changes": [
            {"id": change.id, "before": change.before, "after": change.after} for change in changes(about, entries)
        ],
    }


def _target(about: RunMetadata) -> Json:
    return {
        "target": about.target,
        "identity": about.identity,
        "backend": about.backend,
        "backend_why": about.backend_why,
        "versions": dict(about.versions),
        "features": {"supported": dict(about.supported), "finalized": dict(about.finalized)},
        "apis": {name: list(versions) for name, versions in about.apis.items()},
    }


def _verdict(entry: RequirementResult, verdict: Verdict) -> Json:
    return {
        "id": entry.row.id,
        "kip": entry.row.kip,
        "group": entry.row.group,
        "level": str(verdict.level),
        "status": verdict.status.value,
        "rest": verdict.rest.value if verdict.rest else None,
        "passes": not entry.prevents_passing,
        "known_failure": verdict.known_failure,
        "witnesses": verdict.witnesses,
        "findings": [
            {
                "anomaly": finding.anomaly,
                "level": str(finding.level),
                "detail": finding.detail,
                "steps": list(finding.steps),
            }
            for finding in verdict.findings
        ],
        "reason": verdict.reason,
        "seconds": verdict.seconds,
        "file": entry.row.file,
        "statement": entry.row.statement,
        "section": entry.row.section,
        "link": entry.row.link,
        "access": list(entry.row.access),
    }
