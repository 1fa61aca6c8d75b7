"""Allure's labels on a judged item: there with --alluredir, and silent without."""

import json
from typing import Any

import pytest

from harness.contract.level import Level
from harness.report.shared.allure import SEVERITIES

ITEM = """
from harness.report.shared import allure
from suites.selfcheck.fixtures import contract_folder

def test_judged():
    wanted = zip(contract_folder.rows(), contract_folder.verdicts())
    row, verdict = next(pair for pair in wanted if pair[0].id == contract_folder.STUCK)
    allure.label(row, verdict, contract_folder.evidence(row.id))
"""
QUIET = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:fencepost")


@pytest.fixture
def results(pytester: pytest.Pytester) -> dict[str, Any]:
    """The one result file that a run with --alluredir leaves."""
    pytester.makepyfile(ITEM)
    pytester.runpytest_subprocess(*QUIET, "--alluredir=results").assert_outcomes(passed=1)
    (result,) = pytester.path.glob("results/*-result.json")
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return found


def test_labels_links_and_attachments(results: dict[str, Any], pytester: pytest.Pytester) -> None:
    labels = {(label["name"], label["value"]) for label in results["labels"]}
    wanted = {("epic", "KIP-890"), ("feature", "SAFE"), ("severity", "normal"), ("tag", "SHOULD"), ("tag", "stuck-lso")}
    assert wanted <= labels
    assert results["name"].startswith("KIP890-SAFE-04 Once every transaction has ended")
    assert results["links"][0]["url"].endswith("/KIP-890")
    attached = {a["name"]: pytester.path / "results" / a["source"] for a in results["attachments"]}
    assert json.loads(attached["verdict KIP890-SAFE-04"].read_text("utf-8"))["status"] == "VIOLATED"
    assert json.loads(attached["evidence KIP890-SAFE-04"].read_text("utf-8"))["faults"][0]["name"] == "hold"


def test_silent_without_allure(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ITEM)
    outcome = pytester.runpytest_subprocess(*QUIET)
    outcome.assert_outcomes(passed=1)
    assert not list(pytester.path.glob("**/*-result.json"))


def test_every_level_has_its_severity() -> None:
    assert set(SEVERITIES) == set(Level)
