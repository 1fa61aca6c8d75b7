"""The options of the command line and of pytest: declared once in a table, parsed once into values.

The only place that reads the environment for the product: ``FENCEPOST_BROKER_JVM_OPTS`` (shell words) and
``FENCEPOST_BROKER_PROPERTIES`` (``key=value`` lines), so that a vendor can attach an agent or a setting from CI.
"""

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from harness.app.contract_session import ContractOptions
from harness.base.paths import SCENARIOS, runs_folder
from harness.base.property_lines import parse_properties
from harness.base.seed import Seed
from harness.chaos.plan.chaos_options import ChaosOptions, seconds
from harness.chaos.plan.scenario_catalogue import chosen, find_scenarios
from harness.cluster.cluster import ClusterOptions
from harness.cluster.run_options import RunOptions
from harness.cluster.target import parse_target

JVM_OPTS, PROPERTIES = "FENCEPOST_BROKER_JVM_OPTS", "FENCEPOST_BROKER_PROPERTIES"
TARGET_HELP = "kafka:<version> | dist:<.tgz or folder> | image:<reference>[#folder] | external:<host:port,…>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option.

    :param commands: Those that take it; ``pytest`` is ``pytest suites``.
    :param attributes: As ``argparse`` and pytest's ``addoption`` take them.
    """

    flag: str
    commands: tuple[str, ...]
    help: str
    attributes: Mapping[str, object] = field(default_factory=dict)


CLUSTER = ("qualify", "falsify", "chaos", "up", "pytest")
RUN = ("qualify", "falsify", "chaos", "pytest")
CHAOS = ("chaos", "pytest")

OPTIONS = (
    Option(flag="--target", commands=("pytest",), help=TARGET_HELP),
    Option(
        flag="--falsify",
        commands=("pytest",),
        help="run the live negative controls instead",
        attributes={"action": "store_true"},
    ),
    Option(
        flag="--chaos",
        commands=("pytest",),
        help="rounds of chaos on this target instead of the contract",
        attributes={"metavar": "TARGET"},
    ),
    Option(
        flag="--budget",
        commands=CHAOS,
        help="how long the session may take, such as 90s, 10m or 2h (default: every scenario once)",
        attributes={"metavar": "TIME"},
    ),
    Option(
        flag="--scenarios",
        commands=CHAOS,
        help="scenarios by name, in this order (default: all; fencepost list --scenarios names them)",
        attributes={"default": "", "metavar": "NAME,…"},
    ),
    Option(
        flag="--seconds",
        commands=CHAOS,
        help="length of each round's storms in seconds (default: the scenario's own, or what the budget allows)",
        attributes={"type": float, "metavar": "S"},
    ),
    Option(
        flag="--spark-master",
        commands=(*CHAOS, "replay"),
        help="Spark's master for readers and judge: local[*] (default), spark://…, yarn, k8s://…",
        attributes={"default": "local[*]", "metavar": "URL"},
    ),
    Option(
        flag="--backend",
        commands=CLUSTER,
        help="where it runs (default: auto)",
        attributes={"default": "auto", "choices": ("auto", "process", "docker", "external")},
    ),
    Option(
        flag="--broker-jvm-opt",
        commands=CLUSTER,
        help=f"extra JVM option of every node, repeatable; also {JVM_OPTS}",
        attributes={"action": "append", "default": [], "metavar": "OPT"},
    ),
    Option(
        flag="--broker-property",
        commands=CLUSTER,
        help=f"extra broker property, repeatable; also {PROPERTIES}, one a line",
        attributes={"action": "append", "default": [], "metavar": "KEY=VALUE"},
    ),
    Option(
        flag="--select",
        commands=("qualify", "falsify", "pytest"),
        help="requirements, groups or KIPs by name, for example KIP890-BUMP-01,VERIFY,KIP-664",
        attributes={"default": "", "metavar": "ID,GROUP,…"},
    ),
    Option(
        flag="--seed",
        commands=RUN,
        help="a number that fixes everything the run draws; printed and saved when not given",
        attributes={"type": int, "metavar": "N"},
    ),
    Option(
        flag="--report-dir",
        commands=RUN,
        help="the run folder (default: a new one under reports/runs)",
        attributes={"type": Path, "metavar": "DIR"},
    ),
)


def declare(command: str, add: Callable[..., object]) -> None:
    """Declare the options of ``command`` by ``add``: ``argparse``'s ``add_argument`` or pytest's ``addoption``."""
    for option in OPTIONS:
        if command in option.commands:
            add(option.flag, help=option.help, **option.attributes)


def contract_options(given: Namespace, *, target: str | None, falsify: bool = False) -> ContractOptions:
    """The options of a qualification; :raises UserError: when one of them is malformed."""
    run = _run_options(given, target or "", folder_name=target or "falsify")
    return ContractOptions(run=run, falsify=falsify, select=given.select)


def chaos_options(given: Namespace, *, target: str) -> ChaosOptions:
    """The options of a session of chaos; :raises UserError: when one of them is malformed."""
    return ChaosOptions(
        run=_run_options(given, target, folder_name=f"chaos-{target}"),
        budget=None if given.budget is None else seconds(given.budget),
        seconds=given.seconds,
        scenarios=chosen(given.scenarios, find_scenarios(SCENARIOS)),
        spark_master=given.spark_master,
    )


def cluster_options(given: Namespace) -> ClusterOptions:
    """What the command line gives for brokers, after what the environment gives."""
    jvm = (*shlex.split(os.environ.get(JVM_OPTS, "")), *given.broker_jvm_opt)
    lines = (*os.environ.get(PROPERTIES, "").splitlines(), *given.broker_property)
    return ClusterOptions(jvm_options=jvm, properties=parse_properties(lines))


def print_progress(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(sentence + "\n")


def _run_options(given: Namespace, target: str, *, folder_name: str) -> RunOptions:
    if target:
        parse_target(target)
    return RunOptions(
        target=target,
        folder=(given.report_dir or _new_folder(folder_name)).absolute(),
        backend=given.backend,
        seed=Seed.fresh() if given.seed is None else Seed(given.seed),
        cluster=cluster_options(given),
        progress=print_progress,
    )


def _new_folder(target: str) -> Path:
    """A folder that no run has used: ``reports/runs/<UTC time>-<process>-<target>``."""
    name = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in target)[:60]
    return runs_folder() / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}-{name}"
