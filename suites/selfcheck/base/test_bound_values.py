"""Catalogues find what files bind by an agreed name, load each file once, and leave the other files alone."""

import sys
from pathlib import Path

import pytest

from harness.base.bound_values import binds, bound, module_name
from harness.evidence.history import anomalies


def write(path: Path, text: str) -> Path:
    """A file with a text; its folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_values_come_in_the_order_of_paths_and_files_that_bind_nothing_are_not_run(tmp_path: Path) -> None:
    second = write(tmp_path / "b" / "one.py", "FOUND: int = 2\n")
    first = write(tmp_path / "a.py", "FOUND = 1\n")
    write(tmp_path / "c.py", "def f():\n    FOUND = 3\n\n\nraise RuntimeError\n")
    assert list(bound(tmp_path, "FOUND")) == [(first, 1), (second, 2)]


def test_a_file_is_loaded_once_and_files_of_the_same_name_are_distinguished(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write(tmp_path / folder / "same_name_of_two.py", "FOUND = object()\n")
    values = [value for _, value in bound(tmp_path, "FOUND")]
    assert values[0] is not values[1]
    assert [value for _, value in bound(tmp_path, "FOUND")] == values


def test_a_file_of_a_package_is_the_module_that_an_import_gives() -> None:
    path = Path(anomalies.__file__)
    assert module_name(path) == "harness.evidence.history.anomalies"
    assert binds(path, "PROBE")
    found = dict(bound(path.parent, "PROBE"))
    assert found[path] is anomalies.PROBE


def test_what_a_file_raises_is_passed_on_and_the_module_is_forgotten(tmp_path: Path) -> None:
    write(tmp_path / "broken_when_loaded.py", "FOUND = 1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        list(bound(tmp_path, "FOUND"))
    assert "broken_when_loaded" not in sys.modules
