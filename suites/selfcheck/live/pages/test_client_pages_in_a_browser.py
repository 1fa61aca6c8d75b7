"""The pages of a run on clients in a real headless Chromium: quiet, not too wide, and a mark leads to what was said."""

from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from suites.selfcheck.fixtures import client_folder
from suites.selfcheck.fixtures.browser import assert_quiet_and_not_too_wide, run, visit

pytest_plugins = ("suites.selfcheck.fixtures.browser",)


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with both clients."""
    return client_folder.make(tmp_path_factory.mktemp("clients"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["clients.html", "java-4.3.1/index.html", "broken-1.0/index.html"])
def test_quiet_and_not_too_wide(
    chromium: webdriver.Chrome, side_by_side: Path, name: str, width: int, scheme: str
) -> None:
    visit(chromium, (side_by_side.parent / name).as_uri(), width=width, scheme=scheme)
    assert_quiet_and_not_too_wide(chromium)


def test_a_mark_leads_to_the_requirement_on_the_clients_page(chromium: webdriver.Chrome, side_by_side: Path) -> None:
    visit(chromium, side_by_side.as_uri())
    chromium.find_element(By.CSS_SELECTOR, "#matrix td.s-violated a").click()
    assert chromium.current_url.endswith(f"broken-1.0/index.html#{client_folder.ID}")
    assert chromium.find_element(By.ID, client_folder.ID).get_attribute("open") is not None


def test_a_call_in_a_closed_chapter_is_opened_by_its_address(chromium: webdriver.Chrome, side_by_side: Path) -> None:
    page = (side_by_side.parent / "java-4.3.1" / "index.html").as_uri()
    visit(chromium, f"{page}#{client_folder.ID}--call-5")
    shown = run(chromium, f"return document.getElementById('{client_folder.ID}--call-5').getClientRects().length")
    assert shown == 1
