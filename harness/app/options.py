"""What the command line and the environment wish for.

The only place that reads the environment for the product: ``FENCEPOST_BROKER_JVM_OPTS`` (shell words) and
``FENCEPOST_BROKER_PROPERTIES`` (``key=value`` lines), so that a vendor can attach an agent or a setting from CI.
"""

import os
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest

from harness.app.contract_session import ContractOptions
from harness.base.property_lines import parse_properties
from harness.base.seed import Seed
from harness.chaos.plan.chaos_options import ChaosOptions, seconds
from harness.cluster.backend_catalogue import AUTO, BACKEND_NAMES
from harness.cluster.cluster import ClusterOptions
from harness.cluster.target import parse_target

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "suites" / "chaos" / "scenarios"
CONTRACT = ROOT / "suites" / "contract"
KNOWN_FAILING = ROOT / "suites" / "known_failing"
RUNS = ROOT / "reports" / "runs"
JVM_OPTS, PROPERTIES = "FENCEPOST_BROKER_JVM_OPTS", "FENCEPOST_BROKER_PROPERTIES"

TARGET_HELP = "kafka:<version> | dist:<.tgz or folder> | image:<reference>[#folder] | external:<host:port,…>"
SEED_HELP = "a number that fixes everything the run draws; printed and saved when not given"
SELECT_HELP = "requirements, groups or KIPs by name, for example KIP890-BUMP-01,VERIFY,KIP-664"
BUDGET_HELP = "how long the session may take, such as 90s, 10m or 2h (default: every scenario once)"
SCENARIOS_HELP = "scenarios by name, in this order (default: all; fencepost list --scenarios tells them)"
SECONDS_HELP = "length of each round's storms in seconds (default: the scenario's own, or what the budget allows)"
MASTER_HELP = "Spark's master for readers and judge: local[*] (default), spark://…, yarn, k8s://…"
FOLDER_HELP = "the run folder (default: a new one under reports/runs)"
JVM_HELP = f"extra JVM option of every node, repeatable; also {JVM_OPTS}"
PROPERTY_HELP = f"extra broker property, repeatable; also {PROPERTIES}, one a line"


class _Options(Protocol):
    def addoption(self, *names: str, **attributes: object) -> None:
        """pytest's ``OptionGroup.addoption``."""
        ...


def add_options(group: _Options) -> None:
    """Declare the options to pytest."""
    group.addoption("--target", help=TARGET_HELP)
    group.addoption("--backend", default=AUTO, choices=BACKEND_NAMES, help="where it runs (default: auto)")
    group.addoption("--seed", type=int, help=SEED_HELP)
    group.addoption("--select", default="", metavar="ID,GROUP,…", help=SELECT_HELP)
    group.addoption("--report-dir", type=Path, help=FOLDER_HELP)
    group.addoption("--falsify", action="store_true", help="run the live negative controls instead")
    group.addoption("--chaos", metavar="TARGET", help="rounds of chaos on this target instead of the contract")
    group.addoption("--budget", metavar="TIME", help=BUDGET_HELP)
    group.addoption("--scenarios", default="", metavar="NAME,…", help=SCENARIOS_HELP)
    group.addoption("--seconds", type=float, help=SECONDS_HELP)
    group.addoption("--spark-master", default="local[*]", metavar="URL", help=MASTER_HELP)
    group.addoption("--broker-jvm-opt", action="append", default=[], metavar="OPT", help=JVM_HELP)
    group.addoption("--broker-property", action="append", default=[], metavar="KEY=VALUE", help=PROPERTY_HELP)


def read_wish(config: pytest.Config) -> ContractOptions:
    """The options and the environment as one value; :raises Trouble: when one of them is malformed."""
    target = config.getoption("--target")
    if target is not None:
        parse_target(target)
    seed = config.getoption("--seed")
    return ContractOptions(
        target=target,
        backend=config.getoption("--backend"),
        seed=Seed.fresh() if seed is None else Seed(seed),
        folder=config.getoption("--report-dir") or new_folder(target or "falsify"),
        options=cluster_options(config.getoption("--broker-jvm-opt"), config.getoption("--broker-property")),
        falsify=config.getoption("--falsify"),
        select=config.getoption("--select"),
        known_failing=KNOWN_FAILING,
    )


def read_chaos_wish(config: pytest.Config) -> ChaosOptions | None:
    """The wish for chaos, or None where none was asked for; :raises Trouble: when a part of it is malformed."""
    target = config.getoption("--chaos")
    if target is None:
        return None
    parse_target(target)
    seed, budget = config.getoption("--seed"), config.getoption("--budget")
    return ChaosOptions(
        target=target,
        backend=config.getoption("--backend"),
        options=cluster_options(config.getoption("--broker-jvm-opt"), config.getoption("--broker-property")),
        seed=Seed.fresh() if seed is None else Seed(seed),
        folder=(config.getoption("--report-dir") or new_folder(f"chaos-{target}")).absolute(),
        budget=None if budget is None else seconds(budget),
        seconds=config.getoption("--seconds"),
        scenarios=config.getoption("--scenarios"),
        spark_master=config.getoption("--spark-master"),
    )


def new_folder(target: str) -> Path:
    """A folder that no run has used: ``reports/runs/<UTC time>-<target>``."""
    name = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in target)[:60]
    return RUNS / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}-{name}"


def cluster_options(jvm_options: Sequence[str], properties: Sequence[str]) -> ClusterOptions:
    """What was given on the command line, after what the environment gives."""
    jvm = (*shlex.split(os.environ.get(JVM_OPTS, "")), *jvm_options)
    lines = (*os.environ.get(PROPERTIES, "").splitlines(), *properties)
    return ClusterOptions(jvm_options=jvm, properties=parse_properties(lines))
