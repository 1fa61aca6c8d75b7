"""The style is executable: sizes, banned calls, docstrings and the places that must agree with each other."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from harness.app.cli import EPILOG
from harness.base.paths import ROOT
from harness.base.user_error import ExitCode
from harness.report.shared.words import NOT_JUDGED, ORDER

PROGRAMS = ROOT / "harness" / "clients" / "programs"  # adapters in many languages, which we never import
SOURCES = {".py", ".java", ".go", ".js", ".rs"}
FILES = sorted(
    path
    for top in ("harness", "toxics", "suites")
    for path in (ROOT / top).rglob("*.py")
    if not path.is_relative_to(PROGRAMS)
)
PROGRAM_FILES = sorted(path for path in PROGRAMS.rglob("*") if path.suffix in SOURCES)
PAGES = [
    page for pattern in ("*.md", "harness/**/*.md", "reports/*.md", "suites/**/*.md") for page in ROOT.glob(pattern)
]
PACKAGES = sorted({path.parent for path in FILES})
LONGEST_FILE, LONGEST_TEST_FILE, LONGEST_FUNCTION = 350, 500, 50
BANNED_NAMES = {"utils", "util", "common", "helper", "helpers", "manager", "base", "handler", "data", "info"}


def named(path: Path) -> str:
    """The path as test ids show it."""
    return str(path.relative_to(ROOT))


@cache
def text_of(path: Path) -> str:
    """A file's text, read once."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """A file's syntax tree, parsed once."""
    return ast.parse(text_of(path))


@cache
def functions(path: Path) -> list[ast.FunctionDef]:
    """Every function and method of a file."""
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_file_is_small_and_has_a_docstring(path: Path) -> None:
    limit = LONGEST_TEST_FILE if path.name.startswith("test_") else LONGEST_FILE
    assert len(text_of(path).splitlines()) <= limit
    assert ast.get_docstring(tree_of(path)), "no module docstring"
    assert path.stem not in BANNED_NAMES


@pytest.mark.parametrize("path", PROGRAM_FILES, ids=named)
def test_an_adapter_that_ships_is_small(path: Path) -> None:
    assert text_of(path).count("\n") < LONGEST_FILE


@pytest.mark.parametrize("path", FILES, ids=named)
def test_functions_are_short(path: Path) -> None:
    long = [f"{node.name}: {length}" for node in functions(path) if (length := span(node)) > LONGEST_FUNCTION]
    assert not long


def span(node: ast.FunctionDef) -> int:
    """Lines of a function."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_nine_functions_of_ten_are_under_thirty_lines() -> None:
    lengths = sorted(span(node) for path in FILES for node in functions(path))
    assert lengths[int(len(lengths) * 0.9)] < 30


TWICE = {
    "late_produce": "the scenario is called by the toxic that it is about",
    "rolling_restart": "likewise",
    "__main__": "Python's own name for what `python -m` runs",
    "conftest": "pytest's own name",
}
"""File names that occur more than once, each with its reason."""
CLASSES_TWICE: dict[str, str] = {}
"""Likewise class names."""
MODULES_A_PACKAGE = 14


def test_a_file_name_occurs_once() -> None:
    names = Counter(path.stem for path in FILES if path.stem != "__init__")
    assert {name for name, count in names.items() if count > 1} - TWICE.keys() == set()


def test_a_class_name_occurs_once() -> None:
    classes = Counter(node.name for path in FILES for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef))
    assert {name for name, count in classes.items() if count > 1} - CLASSES_TWICE.keys() == set()


@pytest.mark.parametrize("package", PACKAGES, ids=named)
def test_a_package_is_small_and_has_a_docstring(package: Path) -> None:
    modules = [path for path in package.glob("*.py") if path.stem != "__init__"]
    assert len(modules) <= MODULES_A_PACKAGE or package.relative_to(ROOT).parts[0] == "suites"
    assert ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))


def test_the_glossary_points_at_what_is_there_and_fits_a_page() -> None:
    glossary = (ROOT / "harness" / "README.md").read_text(encoding="utf-8")
    cells = [line.rstrip(" |").rpartition("|")[2] for line in glossary.splitlines() if line.startswith("| **")]
    named_paths = [path for cell in cells for path in re.findall(r"`([^`]+)`", cell)]
    homes = (ROOT / "harness", ROOT)
    assert [path for path in named_paths if not any((home / path).exists() for home in homes)] == []
    assert 20 <= len(cells) <= 40


def test_only_the_module_wait_sleeps() -> None:
    sleepers = [named(path) for path in FILES if re.search(r"\btime\.sleep\(", text_of(path))]
    assert sleepers == ["harness/base/wait.py"]


def test_no_test_is_skipped_without_a_typed_reason() -> None:
    bare = re.compile(r"pytest\.skip\(|mark\.skip\b|mark\.skipif|mark\.xfail")
    allowed = {
        "harness/app/judging_item.py",
        "suites/selfcheck/fixtures/skips.py",
        "suites/selfcheck/house/test_house_rules.py",
    }
    found = {named(path) for path in FILES if bare.search(text_of(path))}
    assert found <= allowed


def test_every_exit_code_is_documented_in_the_help_and_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for code in ExitCode:
        assert re.search(rf"\b{code.value}\b", EPILOG), f"--help lacks exit code {code.value}"
        assert f"| {code.value} |" in readme, f"README.md lacks exit code {code.value}"


@pytest.mark.parametrize("page", ["README.md", "reports/README.md"])
def test_every_status_is_explained(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [status for status in ORDER if status != NOT_JUDGED and f"| {status} |" not in text]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_points_only_at_files_that_exist(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert links or page.parent != ROOT
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_nothing_of_this_machine_is_written_down() -> None:
    text = "\n".join(map(text_of, FILES))
    homes = re.compile(r"/(home|Users)/\w+|/work/" + "main")
    assert not homes.search(text)
