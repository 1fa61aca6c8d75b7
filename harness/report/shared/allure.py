"""Allure's labels and attachments for a judged requirement or round of chaos; the one place that imports allure.

Called inside a running pytest item. Where allure-pytest is not active (no ``--alluredir``), every call falls on a
plugin manager without listeners and does nothing.
"""

from collections.abc import Mapping

import allure
import msgspec
from allure_commons.types import AttachmentType, Severity

from harness.base.json_value import Json
from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.verdict import Verdict
from harness.evidence.history.judgement import Judgement
from harness.evidence.json_codec import to_json
from harness.evidence.requirement_evidence import Evidence
from harness.evidence.status import Status
from harness.report.shared.run_metadata import run_metadata
from harness.report.shared.words import finding_words, short

SEVERITIES = {"MUST": Severity.CRITICAL, "SHOULD": Severity.NORMAL, "MAY": Severity.MINOR}


def label(row: RequirementRow, verdict: Verdict, evidence: Evidence | None = None, client: str = "") -> None:
    """KIP as epic, group as feature, a client as story, the verdict's level as severity and tag.

    The KIP's link, the verdict and the evidence are attached.
    """
    allure.dynamic.title(" ".join(filter(None, (client, row.id, short(row.statement, 200)))))
    allure.dynamic.description(_description(row, verdict))
    allure.dynamic.epic(row.kip)
    allure.dynamic.feature(row.group)
    if client:
        allure.dynamic.story(client)
    allure.dynamic.severity(SEVERITIES.get(verdict.level, Severity.NORMAL))
    allure.dynamic.tag(str(verdict.level), verdict.status.value, *(found.anomaly for found in verdict.findings))
    allure.dynamic.link(row.link, name=f"{row.kip}: {row.section}")
    _attach(f"verdict {row.id}", to_json(verdict))
    if evidence is not None:
        _attach(f"evidence {row.id}", to_json(evidence))


def label_round(judgement: Judgement, run: Mapping[str, Json]) -> None:
    """Chaos as epic, scenario as feature, workload as story; anomalies and conclusion as tags; judgement attached."""
    scenario, seed, title = (str(run.get(name) or "") for name in ("scenario", "seed", "title"))
    broken = judgement.status is Status.VIOLATED
    allure.dynamic.title(f"{scenario}, seed {seed}")
    allure.dynamic.description("\n\n".join([title, *_round_findings(judgement), f"again: {run_metadata(run).command}"]))
    allure.dynamic.epic("chaos")
    allure.dynamic.feature(scenario)
    allure.dynamic.story(str(run.get("workload") or ""))
    allure.dynamic.severity(Severity.CRITICAL if broken else Severity.NORMAL)
    allure.dynamic.tag(judgement.status.value, *judgement.anomalies)
    _attach(f"judgement {scenario} {seed}", to_json(judgement))


def _round_findings(judgement: Judgement) -> list[str]:
    return [f"{found.anomaly}: {found.detail}" for check in judgement.checks for found in check.findings]


def _description(row: RequirementRow, verdict: Verdict) -> str:
    parts = [row.statement, f"{verdict.level}: {verdict.status.value}"]
    parts += [finding_words(found) for found in verdict.findings]
    parts += [verdict.reason] if verdict.reason else []
    parts += [f"known failure: {verdict.known_failure}"] if verdict.known_failure else []
    return "\n\n".join(parts)


def _attach(name: str, line: str) -> None:
    allure.attach(msgspec.json.format(line, indent=1), name=name, attachment_type=AttachmentType.JSON)
