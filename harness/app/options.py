"""The options of the command line and of pytest: declared once in a table, parsed once into values.

The only place that reads the environment for the product: ``FENCEPOST_BROKER_JVM_OPTS`` (shell words) and
``FENCEPOST_BROKER_PROPERTIES`` (``key=value`` lines), so that a vendor can attach an agent or a setting from CI.
"""

import os
import re
import shlex
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from harness.app.clients.clients_session import CLIENT_JOBS, ClientsOptions
from harness.app.contract_session import ContractOptions
from harness.app.side_by_side import JOBS, MOST_CLUSTERS, MOST_JOBS, PROCESSORS_FOR_TWO, usual_clusters
from harness.base.paths import CLIENTS, CONTRACT, SCENARIOS, runs_folder
from harness.base.property_lines import parse_properties
from harness.base.seed import Seed
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.chaos_options import ChaosOptions, parse_seconds
from harness.chaos.plan.scenario_catalogue import find_scenarios, select_scenarios
from harness.clients.stdio.adapter_name import adapter_command
from harness.cluster.backend_catalogue import AUTO, BACKEND_NAMES
from harness.cluster.cluster import ClusterOptions
from harness.cluster.run_options import PREFIX, Permissions, RunOptions
from harness.cluster.target import External, parse_target
from harness.cluster.topology import BROKERS, MOST_BROKERS
from harness.contract.level import Profile

JVM_OPTS, PROPERTIES = "FENCEPOST_BROKER_JVM_OPTS", "FENCEPOST_BROKER_PROPERTIES"
TARGET_HELP = "kafka:<version> | dist:<.tgz or folder> | image:<reference>[#folder] | external:<host:port,…>"


CLUSTER = ("qualify", "falsify", "chaos", "clients", "up", "pytest")
RUN = ("qualify", "falsify", "chaos", "clients", "pytest")
RUNNING = ("qualify", "chaos", "clients", "pytest")
JUDGED = ("qualify", "pytest")
CHAOS = ("chaos", "pytest")
OF = {"brokers": (CONTRACT,), "clients": (CLIENTS,), "all": (CONTRACT, CLIENTS)}
"""Whose promises negative controls are of: the folders that state them."""
BACKENDS = {"default": AUTO, "choices": BACKEND_NAMES}


NAME = r"[a-zA-Z0-9._-]{1,100}"
"""What names of ours may begin with (Kafka's ``Topic.LEGAL_CHARS``)."""


def part_of(text: str) -> tuple[int, int]:
    """``1/4`` as (1, 4); :raises ArgumentTypeError: when it is no part."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ArgumentTypeError(f"{text!r} is no part: write K/N, for example 1/4")
    return int(found[1]), int(found[2])


class Option(NamedTuple):
    """One option: the commands that take it (``pytest`` is ``pytest suites``), and how ``argparse`` declares it."""

    flag: str
    commands: tuple[str, ...]
    attributes: Mapping[str, object]
    help: str


OPTIONS = (
    Option(
        "--clients",
        ("clients",),
        {"required": True, "metavar": "NAME,…"},
        "clients by name and version, java:4.3.1,franz-go:1.22, or programs, ./my-adapter",
    ),
    Option(
        "--known-clients",
        ("clients",),
        {"type": Path, "metavar": "DIR"},
        "a folder with a list of known failures for each client: java-4.3.1.txt (default: our own)",
    ),
    Option(
        "--write-known-clients",
        ("clients",),
        {"type": Path, "metavar": "DIR"},
        "write such lists of what this run finds VIOLATED; of those that it read, what is still true stays",
    ),
    Option("--target", ("pytest",), {}, TARGET_HELP),
    Option("--falsify", ("pytest",), {"action": "store_true"}, "run the live negative controls instead"),
    Option("--chaos", ("pytest",), {"metavar": "TARGET"}, "chaos on this target instead of the contract"),
    Option("--budget", CHAOS, {"metavar": "TIME"}, "how long it may take: 90s, 10m, 2h (default: every scenario once)"),
    Option(
        "--scenarios",
        CHAOS,
        {"default": "", "metavar": "NAME,…"},
        "scenarios by name, in this order (default: all; fencepost list --scenarios names them)",
    ),
    Option(
        "--clients",
        CHAOS,
        {"default": "", "metavar": "NAME,…"},
        "libraries that play the roles, in turn, each actor a process of its own that is also killed and paused:"
        " java:4.3.1,java:3.9.2,sarama, or ./a-program (default: the scenarios' own clients, in Fencepost's process)",
    ),
    Option(
        "--seconds",
        CHAOS,
        {"type": float, "metavar": "S"},
        "length of each round's storms in seconds (default: the scenario's own, or what the budget allows)",
    ),
    Option(
        "--spark-master",
        (*CHAOS, "replay"),
        {"default": "local[*]", "metavar": "URL"},
        "Spark's master for readers and judge: local[*] (default), spark://…, yarn, k8s://…",
    ),
    Option("--backend", CLUSTER, BACKENDS, "where it runs (default: auto)"),
    Option(
        "--brokers",
        ("up",),
        {"type": int, "default": len(BROKERS), "metavar": "N", "choices": range(1, MOST_BROKERS + 1)},
        f"how many brokers, 1 to {MOST_BROKERS} (default: %(default)s; containers are always three)",
    ),
    Option(
        "--broker-jvm-opt",
        CLUSTER,
        {"action": "append", "default": [], "metavar": "OPT"},
        f"extra JVM option of every node, repeatable; also {JVM_OPTS}",
    ),
    Option(
        "--broker-property",
        CLUSTER,
        {"action": "append", "default": [], "metavar": "KEY=VALUE"},
        f"extra broker property, repeatable; also {PROPERTIES}, one a line",
    ),
    Option(
        "--select",
        ("qualify", "falsify", "clients", "pytest"),
        {"default": "", "metavar": "ID,GROUP,…"},
        "requirements, groups or KIPs by name, for example KIP890-BUMP-01,VERIFY,KIP-664",
    ),
    Option(
        "--seed",
        RUN,
        {"type": int, "metavar": "N"},
        "a number that fixes everything the run draws; printed and saved when not given",
    ),
    Option(
        "--profile",
        (*JUDGED, "clients"),
        {"choices": tuple(Profile)},
        "which promises decide the exit code: kip, what a KIP promises (default on external: and of clients), or kafka,"
        " also how Apache Kafka itself does it (default on releases)",
    ),
    Option(
        "--known-failing",
        JUDGED,
        {"type": Path, "metavar": "FILE"},
        "requirements that are known to fail, a line each: id | reason | link (default for releases: our own list)",
    ),
    Option(
        "--write-known-failing",
        JUDGED,
        {"type": Path, "metavar": "FILE"},
        "write such a list from what this run finds VIOLATED; of the one that it read, what is still true stays",
    ),
    Option(
        "--client-properties",
        (*RUNNING, "up"),
        {"type": Path, "metavar": "FILE"},
        "external: how clients connect, in Kafka's own format (security.protocol, sasl.jaas.config, ssl.truststore…)",
    ),
    Option(
        "--prefix",
        RUNNING,
        {"default": PREFIX, "metavar": "TEXT"},
        "external: what the names of our topics, groups and transactional ids begin with (default: %(default)s)",
    ),
    Option(
        "--topics",
        RUNNING,
        {"default": "", "metavar": "NAME,…"},
        "external: write to these topics of yours, where none may be created",
    ),
    Option(
        "--allow-changes",
        RUNNING,
        {"action": "store_true"},
        "external: also run what changes settings or feature levels or writes markers; all is set back",
    ),
    Option(
        "--allow-load",
        RUNNING,
        {"action": "store_true"},
        "external: also run what first uses up all epochs of a producer id: 32,766 small requests, a minute or two",
    ),
    Option(
        "--plan",
        JUDGED,
        {"action": "store_true"},
        "print what would be created and changed on the target, and do nothing",
    ),
    Option(
        "--of",
        ("falsify", "pytest"),
        {"choices": tuple(OF)},
        "whose promises: brokers (default of falsify), clients or all",
    ),
    Option(
        "--part",
        ("falsify", "pytest"),
        {"type": part_of, "default": (1, 1), "metavar": "K/N"},
        "only the K-th of N parts of the negative controls, so that several machines can share them: 1/4",
    ),
    Option(
        "--against",
        JUDGED,
        {"type": Path, "metavar": "RUN"},
        "an earlier run's folder: the report tells what is not as it was there",
    ),
    Option(
        "--jobs",
        (*JUDGED, "clients"),
        {"type": int, "metavar": "N", "choices": range(1, MOST_JOBS + 1)},
        f"requirements that are tried at a time where none can disturb another (default: {JOBS}; 1 on external:)",
    ),
    Option(
        "--clusters",
        JUDGED,
        {"type": int, "metavar": "N", "choices": range(1, MOST_CLUSTERS + 1)},
        f"clusters of ours that are up at a time (default: {MOST_CLUSTERS} where there are {PROCESSORS_FOR_TWO} "
        "processors, else 1)",
    ),
    Option("--report-dir", RUN, {"type": Path, "metavar": "DIR"}, "the run folder (default: one in reports/runs)"),
)


def declare(command: str, add: Callable[..., object]) -> None:
    """Declare the options of ``command`` by ``add``: ``argparse``'s ``add_argument`` or pytest's ``addoption``."""
    for option in OPTIONS:
        if command in option.commands:
            add(option.flag, help=option.help, **option.attributes)


def contract_options(given: Namespace, *, target: str | None, falsify: bool = False) -> ContractOptions:
    """The options of a qualification; :raises UserError: when one of them is malformed."""
    run = _run_options(given, target or "", folder_name=target or "falsify")
    external = bool(target) and isinstance(parse_target(target or ""), External)
    profile = Profile(getattr(given, "profile", None) or (Profile.KIP if external else Profile.KAFKA))
    return ContractOptions(
        run=run,
        falsify=falsify,
        of=OF[getattr(given, "of", None) or ("brokers" if falsify else "all")],
        select=given.select,
        profile=profile,
        known_failing=getattr(given, "known_failing", None),
        write_known_failing=getattr(given, "write_known_failing", None),
        plan=getattr(given, "plan", False),
        against=getattr(given, "against", None),
        part=getattr(given, "part", (1, 1)),
        jobs=getattr(given, "jobs", None) or (1 if external else JOBS),
        clusters=getattr(given, "clusters", None) or usual_clusters(),
    )


def clients_options(given: Namespace, *, target: str) -> ClientsOptions:
    """The options of a run on clients; :raises UserError: when one of them is malformed."""
    names = tuple(filter(None, (name.strip() for name in given.clients.split(","))))
    if not names or len(set(names)) < len(names):
        raise UserError("--clients: name one client or more, each once", exit=ExitCode.USAGE)
    return ClientsOptions(
        run=_run_options(given, target, folder_name=f"clients-{target}"),
        clients=names,
        select=given.select,
        profile=Profile(given.profile or Profile.KIP),
        known_failing=given.known_clients,
        write_known=given.write_known_clients,
        jobs=given.jobs or CLIENT_JOBS,
    )


def chaos_options(given: Namespace, *, target: str) -> ChaosOptions:
    """The options of a session of chaos; :raises UserError: when one of them is malformed."""
    run = _run_options(given, target, folder_name=f"chaos-{target}")
    if run.permissions.topics:
        raise UserError("chaos makes topics of its own, and cannot run on given ones (--topics)", exit=ExitCode.USAGE)
    scenarios = select_scenarios(given.scenarios, find_scenarios(SCENARIOS))
    clients = [adapter_command(name, print_progress) for name in _names(given.clients)]
    played_by = [client.name for client in clients]
    return ChaosOptions(
        run=run,
        budget_seconds=None if given.budget is None else parse_seconds(given.budget),
        round_seconds=given.seconds,
        scenarios=[scenario.played_by(played_by) for scenario in scenarios] if clients else scenarios,
        clients=clients,
        spark_master=given.spark_master,
    )


def cluster_options(given: Namespace) -> ClusterOptions:
    """What the command line gives for brokers, after what the environment gives."""
    jvm = (*shlex.split(os.environ.get(JVM_OPTS, "")), *given.broker_jvm_opt)
    lines = (*os.environ.get(PROPERTIES, "").splitlines(), *given.broker_property)
    secured = getattr(given, "client_properties", None)
    return ClusterOptions(
        jvm_options=jvm,
        properties=parse_properties(lines),
        brokers=getattr(given, "brokers", len(BROKERS)),
        client_properties=secured and secured.absolute(),
    )


def _permissions(given: Namespace) -> Permissions:
    """``falsify`` has none of these options: it runs on clusters of ours alone."""
    topics = tuple(_names(getattr(given, "topics", "")))
    prefix, changes = getattr(given, "prefix", PREFIX), getattr(given, "allow_changes", False)
    load = getattr(given, "allow_load", False)
    if not re.fullmatch(NAME, prefix):
        raise UserError(
            f"--prefix {prefix!r} cannot begin a topic's name: write 1 to 100 of a–z, A–Z, 0–9, '.', '_' and '-'",
            exit=ExitCode.USAGE,
        )
    return Permissions(prefix=prefix, topics=topics, changes=changes, load=load)


def _names(given: str) -> Sequence[str]:
    """Those between commas."""
    return [name.strip() for name in given.split(",") if name.strip()]


def print_progress(sentence: str) -> None:
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
        permissions=_permissions(given),
        progress=print_progress,
    )


def _new_folder(target: str) -> Path:
    """A folder that no run has used: ``reports/runs/<UTC time>-<process>-<target>``."""
    name = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in target)[:60]
    return runs_folder() / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}-{name}"
