"""Allure's labels and attachments for a judged requirement; the one place that imports allure.

Called inside a running pytest item. Where allure-pytest is not active (no ``--alluredir``), every call falls on a
plugin manager without listeners and does nothing.
"""

import json

import allure
from allure_commons.types import AttachmentType, Severity

from harness.contract.catalogue import Row
from harness.contract.verdict import Verdict
from harness.history.codec import to_json
from harness.history.evidence import Evidence
from harness.report.words import short

SEVERITIES = {"MUST": Severity.CRITICAL, "SHOULD": Severity.NORMAL, "MAY": Severity.MINOR}


def label(row: Row, verdict: Verdict, evidence: Evidence | None = None) -> None:
    """KIP as epic, group as feature, level as severity and tag; the KIP's link; verdict and evidence attached."""
    allure.dynamic.title(f"{row.id} {short(row.statement, 200)}")
    allure.dynamic.description(_description(row, verdict))
    allure.dynamic.epic(row.kip)
    allure.dynamic.feature(row.group)
    allure.dynamic.severity(SEVERITIES.get(row.level, Severity.NORMAL))
    allure.dynamic.tag(row.level, verdict.status.value, *(found.anomaly for found in verdict.findings))
    allure.dynamic.link(row.link, name=f"{row.kip}: {row.section}")
    _attach(f"verdict {row.id}", to_json(verdict))
    if evidence is not None:
        _attach(f"evidence {row.id}", to_json(evidence))


def _description(row: Row, verdict: Verdict) -> str:
    told = [row.statement, f"{row.level}: {verdict.status.value}"]
    told += [f"{found.anomaly}: {found.detail}" for found in verdict.findings]
    told += [verdict.reason] if verdict.reason else []
    told += [f"known failure: {verdict.known_failure}"] if verdict.known_failure else []
    return "\n\n".join(told)


def _attach(name: str, line: str) -> None:
    indented = json.dumps(json.loads(line), indent=1, ensure_ascii=False)
    allure.attach(indented, name=name, attachment_type=AttachmentType.JSON)
