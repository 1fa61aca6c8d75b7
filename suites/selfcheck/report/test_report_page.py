"""The page as text: the headline first, every status in words, nothing of the outside world, nothing injected."""

import re
from pathlib import Path

import pytest

from harness.contract.level import Profile
from harness.evidence.requirement_evidence import Sample
from harness.evidence.run_folder import RunFolder
from harness.report.contract.lso_picture import lso_picture
from harness.report.contract.publish import publish
from harness.report.contract.steps import Span, error_of
from harness.report.shared.console import STYLES
from harness.report.shared.words import ORDER, slug
from suites.selfcheck.fixtures import contract_folder
from suites.selfcheck.fixtures.page_reader import PageReader


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = contract_folder.make(tmp_path_factory.mktemp("page") / "run")
    return publish(folder, contract_folder.rows(), contract_folder.verdicts()).read_text(encoding="utf-8")


def test_the_first_heading_is_the_headline(page: str) -> None:
    expected = "Kafka 3.5.2 breaks 5 of 35 promises (1 known) and keeps 13; 10 are not offered"
    assert " ".join(PageReader(page).first_heading.split()).startswith(expected)


def test_nothing_is_loaded_from_outside(page: str) -> None:
    elements = PageReader(page).elements
    loaded = [url for tag, has in elements for url in (has.get("src"), has.get("href")) if url and tag != "a"]
    assert [url for url in loaded if not url.startswith(("data:", "#"))] == []
    assert "@import" not in page
    assert not re.search(r"url\((?!data:)", page)


def test_hostile_strings_stay_text(page: str) -> None:
    assert [tag for tag, _ in PageReader(page).elements].count("script") == 1
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "\u202e" not in page


def test_every_requirement_has_an_anchor_and_its_status_in_words(page: str) -> None:
    parts = {
        has.get("id"): has
        for tag, has in PageReader(page).elements
        if tag == "details" and "req" in (has.get("class") or "")
    }
    assert list(parts) == [row.id for row in contract_folder.rows()]
    open_parts = {identity for identity, has in parts.items() if "open" in has}
    assert open_parts >= {contract_folder.LATE, contract_folder.STUCK, "KIP890-VERIFY-03", "KIP890-VERIFY-10"}
    assert "KIP890-BUMP-01" not in open_parts
    for words in (
        "Violated, known",
        "Not exercised",
        "Undecided",
        "needs EndTxn v5",
        "the entry is stale",
        "held 1.42 s",
    ):
        assert words in page


def test_a_common_reason_is_told_above_the_requirements_and_they_stay_folded(page: str) -> None:
    above = page.partition('id="filter"')[0]
    assert above.count(contract_folder.NO_LINKS) == 1
    assert above.count("KeyError: &#39;base_offset&#39;") == 1
    for id_ in ("KIP890-VERIFY-11", "KIP890-VERIFY-12", "KIP890-VERIFY-02", "KIP890-SAFE-01"):
        assert f'<a href="#{id_}">{id_}</a>' in above
        assert f'id="{id_}" data-status="' in page
        assert not re.search(rf'id="{id_}" data-status="[a-z-]+" open', page)
    assert "stands for 2 requirements" in page


def test_levels_access_and_the_profile_are_in_words(tmp_path: Path) -> None:
    folder = contract_folder.make(tmp_path / "run", Profile.KIP)
    page = publish(folder, contract_folder.rows(), contract_folder.verdicts()).read_text(encoding="utf-8")
    for words in (
        "Differs from Kafka, keeps the KIP",
        "SHOULD: Kafka does so, no KIP promises it",
        "Profile kip: what a KIP promises decides",
        "Not examined further: the end was refused",
        "Needs proxies between brokers, --allow-changes on a cluster that is not ours",
    ):
        assert words in page
    assert 'id="KIP890-VERIFY-05" data-status="differs"' in page
    assert 'id="KIP890-SAFE-02" data-status="not-exercised" open' in page


def test_every_status_has_its_mark_and_colour(page: str) -> None:
    for status in ORDER:
        assert f'id="i-{slug(status)}"' in page, status
        assert re.search(rf"\.s-{slug(status)}\b[^}}]*--s:", page), status
        assert status in STYLES


def test_ids_are_unique(page: str) -> None:
    ids = [has["id"] for _, has in PageReader(page).elements if "id" in has]
    assert len(ids) == len(set(ids))


def test_a_large_journal_is_counted_not_shown(page: str) -> None:
    assert "87 more exchanges around these steps" in page
    assert "The first 30 of 87 are shown" in page
    assert "more characters in journal.jsonl" in page
    assert len(page) < 700_000


def test_an_empty_run_still_gives_a_page(tmp_path: Path) -> None:
    page = publish(RunFolder.create(tmp_path / "run", {}), (), ()).read_text(encoding="utf-8")
    assert PageReader(page).first_heading == "No promise of The target was judged."


def test_the_picture_of_one_sample_and_of_none() -> None:
    sample = Sample(at=5.0, partition="P<1>", high_watermark=3, last_stable_offset=3)
    drawn = lso_picture("P<1>", [sample], (), Span(start=5.0, end=5.0))
    assert "HW 3<" in drawn
    assert "LSO 3<" in drawn
    assert "P&lt;1&gt;" in drawn
    assert lso_picture("P1", [], (), Span(start=0.0, end=0.0)) == ""


def test_the_error_of_an_answer_is_the_first_that_is_not_zero() -> None:
    assert error_of({"error_code": 0, "responses": [{"partitions": [{"error_code": 0}, {"error_code": 47}]}]}) == 47
    assert error_of({"error_code": 0}) == 0
    assert error_of({"throttle_time_ms": 0}) is None
