"""The pages of chaos in a real headless Chromium: quiet, not too wide, legible, in light and dark, wide and narrow."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from harness.report.chaos import publish_round, publish_session
from suites.selfcheck.fixtures import chaos_folders
from suites.selfcheck.fixtures.browser import assert_quiet_and_not_too_wide, run, visit

pytest_plugins = ("suites.selfcheck.fixtures.browser",)

OVERLAPPING = """
    const words = [...document.querySelectorAll('.timeline text:not(.tick)')].map(e => [e, e.getBoundingClientRect()]);
    const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4;
    return words.flatMap(([one, a], i) => words.slice(i + 1).filter(([, b]) => over(a, b))
      .map(([other]) => one.textContent + ' / ' + other.textContent));
"""
SMALLEST = """
    const drawn = document.querySelector('.timeline');
    const scale = drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width;
    return Math.min(...[...drawn.querySelectorAll('text')].map(e => parseFloat(getComputedStyle(e).fontSize))) * scale;
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A broken round, one with hostile strings, one that was not judged, and the session of all."""
    home = tmp_path_factory.mktemp("chaos")
    folders = {
        "broken": chaos_folders.broken(home / "broken"),
        "hostile": chaos_folders.broken(home / "hostile", hostile=True),
        "unjudged": chaos_folders.unjudged(home / "unjudged"),
    }
    pages = {name: publish_round(folder) for name, folder in folders.items()}
    return {**pages, "session": publish_session(home, list(folders.values()))}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["broken", "hostile", "unjudged", "session"])
def test_quiet_and_not_too_wide(
    chromium: webdriver.Chrome, pages: Mapping[str, Path], name: str, width: int, scheme: str
) -> None:
    visit(chromium, pages[name].as_uri(), width=width, scheme=scheme)
    assert_quiet_and_not_too_wide(chromium)


@pytest.mark.parametrize("width", [1280, 400])
def test_labels_of_the_timeline_are_legible_and_do_not_overlap(
    chromium: webdriver.Chrome, pages: Mapping[str, Path], width: int
) -> None:
    visit(chromium, pages["broken"].as_uri(), width=width)
    assert run(chromium, OVERLAPPING) == []
    assert run(chromium, SMALLEST) > 9


def test_on_a_small_screen_the_timeline_scrolls_inside_its_own_box(
    chromium: webdriver.Chrome, pages: Mapping[str, Path]
) -> None:
    visit(chromium, pages["broken"].as_uri(), width=400)
    box = "document.querySelector('.wideplot')"
    assert run(chromium, f"return {box}.scrollWidth - {box}.clientWidth") > 300
    assert run(chromium, f"return {box}.getBoundingClientRect().right") <= 400


def test_a_stuck_lso_is_drawn_in_another_colour_than_a_sound_one(
    chromium: webdriver.Chrome, pages: Mapping[str, Path]
) -> None:
    visit(chromium, pages["broken"].as_uri())
    stuck, sound = (
        chromium.find_element(By.CSS_SELECTOR, f".timeline {which}").value_of_css_property("stroke")
        for which in (".lso.stuck", ".lso:not(.stuck)")
    )
    assert stuck != sound
    assert chromium.find_element(By.CSS_SELECTOR, ".timeline .flag").is_displayed()


def test_an_anomaly_leads_to_its_finding(chromium: webdriver.Chrome, pages: Mapping[str, Path]) -> None:
    visit(chromium, pages["broken"].as_uri())
    chromium.find_element(By.CSS_SELECTOR, ".broken a[href='#stuck-lso-1']").click()
    assert -1 <= run(chromium, "return document.getElementById('stuck-lso-1').getBoundingClientRect().top") < 300
    assert "this one" in chromium.find_element(By.CSS_SELECTOR, "#stuck-lso-1 tr.accused").text
