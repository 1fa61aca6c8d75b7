"""Where the product's own files are, and where runs go.

The packages ``harness``, ``toxics``, ``suites`` and ``compose`` stand side by side, in a checkout as in
``site-packages``.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the packages; files of the catalogue are named relative to it."""
CONTRACT = ROOT / "suites" / "contract"
CLIENTS = ROOT / "suites" / "clients"
ANOMALIES = ROOT / "suites" / "anomalies"
COMPOSE = ROOT / "compose"
TOXICS = ROOT / "toxics"
SCENARIOS = ROOT / "suites" / "chaos" / "scenarios"
WALKS = ROOT / "suites" / "model" / "walks.jsonl"
EXPLAINED = ROOT / "suites" / "model" / "explained.toml"
KNOWN_FAILING = ROOT / "suites" / "known_failing"


def runs_folder() -> Path:
    """Where run folders go by default.

    ``reports/runs`` of the checkout; of the current folder where Fencepost is installed from a wheel.
    """
    return (ROOT if (ROOT / "pyproject.toml").is_file() else Path.cwd()) / "reports" / "runs"
