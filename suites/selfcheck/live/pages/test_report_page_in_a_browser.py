"""The page in a real headless Chromium, on a wide and a narrow screen: quiet, not too wide, and it works."""

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from harness.evidence.run_folder import RunFolder
from harness.report.contract.publish import publish
from suites.selfcheck.fixtures import contract_folder
from suites.selfcheck.fixtures.browser import assert_quiet_and_not_too_wide, console_lines, run, visit

pytest_plugins = ("suites.selfcheck.fixtures.browser",)

SEEN = "return [...document.querySelectorAll('.req')].filter(r => r.offsetParent !== null).map(r => r.dataset.status)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with every status on it."""
    folder = contract_folder.make(tmp_path_factory.mktemp("report") / "run")
    return publish(folder, contract_folder.rows(), contract_folder.verdicts()).as_uri()


@pytest.fixture(scope="module")
def empty_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of a run that judged nothing."""
    folder = RunFolder.create(tmp_path_factory.mktemp("report") / "run", {})
    return publish(folder, (), ()).as_uri()


def click(chromium: webdriver.Chrome, selector: str) -> None:
    """Click as a person does: fails when something lies over the element."""
    chromium.find_element(By.CSS_SELECTOR, selector).click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_quiet_and_not_too_wide(chromium: webdriver.Chrome, page: str, width: int, scheme: str) -> None:
    visit(chromium, page, width=width, scheme=scheme)
    click(chromium, "[data-fold=open]")
    assert_quiet_and_not_too_wide(chromium)


def test_a_page_without_verdicts_is_quiet_too(chromium: webdriver.Chrome, empty_page: str) -> None:
    visit(chromium, empty_page, width=400)
    assert chromium.find_element(By.TAG_NAME, "h1").text == "No promise of The target was judged."
    assert run(chromium, "return document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert console_lines(chromium) == []


@pytest.mark.parametrize("width", [1280, 400])
def test_the_filter_shows_one_status(chromium: webdriver.Chrome, page: str, width: int) -> None:
    visit(chromium, page, width=width)
    click(chromium, "[data-filter=violated]")
    assert run(chromium, SEEN) == ["violated"] * 5
    assert chromium.find_element(By.CSS_SELECTOR, "[data-filter=violated]").get_attribute("aria-pressed") == "true"
    click(chromium, "[data-filter='']")
    assert len(run(chromium, SEEN)) == len(contract_folder.rows())


def test_open_and_close_all(chromium: webdriver.Chrome, page: str) -> None:
    visit(chromium, page)
    click(chromium, "[data-fold=open]")
    assert run(chromium, "return document.querySelectorAll('.req:not([open])').length") == 0
    click(chromium, "[data-fold='']")
    assert run(chromium, "return document.querySelectorAll('.req[open]').length") == 0


def test_a_deep_link_opens_its_requirement(chromium: webdriver.Chrome, page: str) -> None:
    visit(chromium, f"{page}#KIP890-BUMP-03")
    part = chromium.find_element(By.ID, "KIP890-BUMP-03")
    assert part.get_attribute("open") is not None
    assert -1 <= run(chromium, "return document.getElementById('KIP890-BUMP-03').getBoundingClientRect().top") < 300


def test_a_cell_leads_to_its_requirement_through_the_filter(chromium: webdriver.Chrome, page: str) -> None:
    visit(chromium, page)
    click(chromium, "[data-filter=holds]")
    click(chromium, f"a.cell[href='#{contract_folder.STUCK}']")
    assert chromium.find_element(By.CSS_SELECTOR, f"#{contract_folder.STUCK} .finding").is_displayed()


def test_a_finding_leads_to_the_step_that_shows_it(chromium: webdriver.Chrome, page: str) -> None:
    visit(chromium, page)
    click(chromium, f"#{contract_folder.LATE} .finding .see a")
    step = chromium.find_element(By.CSS_SELECTOR, ".step:target")
    assert "shows late-produce-accepted" in step.text
    assert "held 1.42 s" in step.text
    bar, held = (step.find_element(By.CSS_SELECTOR, s).size["width"] for s in (".bar", ".bar i"))
    assert 0.95 < held / bar <= 1


def test_the_picture_shows_the_hold_and_both_lines(chromium: webdriver.Chrome, page: str) -> None:
    visit(chromium, page)
    for part in ("rect.fault", "polyline.hw", "polyline.lso", "text.lso-name"):
        assert chromium.find_element(By.CSS_SELECTOR, f"#{contract_folder.LATE} .picture {part}").is_displayed()


def test_readable_without_javascript(chromium: webdriver.Chrome, page: str) -> None:
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        visit(chromium, page)
        assert chromium.find_element(By.CSS_SELECTOR, f"#{contract_folder.LATE} .finding").is_displayed()
        assert not chromium.find_element(By.ID, "filter").is_displayed()
        click(chromium, "#KIP890-BUMP-01 > summary")
        assert "needs EndTxn v5" in chromium.find_element(By.CSS_SELECTOR, "#KIP890-BUMP-01 .why").text
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
