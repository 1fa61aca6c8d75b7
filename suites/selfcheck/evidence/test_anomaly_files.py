"""An anomaly is one file: complete, found by its place, and loaded without the selfcheck."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.paths import ANOMALIES, ROOT
from harness.evidence.anomaly import Anomaly
from harness.evidence.history.anomalies import find_anomalies

FILE = """
from harness.evidence.anomaly import Anomaly
ANOMALY = Anomaly(name="{name}", order={order}, definition="d", phrase="p", stories=(), plants=())
"""
LOADS = """
import sys
from harness.evidence.history.anomalies import find_anomalies
assert find_anomalies()
print([name for name in sys.modules if name.startswith(("suites.selfcheck", "pytest", "pyspark"))])
"""


@pytest.mark.parametrize("anomaly", find_anomalies().values(), ids=lambda anomaly: anomaly.name)
def test_an_anomaly_is_complete_and_its_file_has_its_name(anomaly: Anomaly) -> None:
    assert (ANOMALIES / f"{anomaly.name.replace('-', '_')}.py").is_file()
    assert anomaly.definition
    assert anomaly.phrase
    assert anomaly.stories
    assert anomaly.plants


def test_anomalies_are_loaded_without_the_selfcheck() -> None:
    loaded = subprocess.run([sys.executable, "-c", LOADS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n"


def test_anomalies_come_in_their_order(tmp_path: Path) -> None:
    for name, order in (("a", 2), ("b", 1)):
        (tmp_path / f"{name}.py").write_text(FILE.format(name=name, order=order))
    assert list(find_anomalies(tmp_path)) == ["b", "a"]


@pytest.mark.parametrize(("second", "key"), [(("a", 2), "name"), (("b", 1), "order")])
def test_two_of_one_name_or_order_are_refused(tmp_path: Path, second: tuple[str, int], key: str) -> None:
    for file, (name, order) in (("first", ("a", 1)), ("second", second)):
        (tmp_path / f"{file}.py").write_text(FILE.format(name=name, order=order))
    with pytest.raises(ValueError, match=f"two anomalies have the {key}"):
        find_anomalies(tmp_path)
