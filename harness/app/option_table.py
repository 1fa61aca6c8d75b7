"""Every option of the command line and of pytest, in one table."""

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.app.chaos.upgrade_option import upgrade_of
from harness.app.side_by_side import JOBS, MOST_CLUSTERS, MOST_JOBS, PROCESSORS_FOR_TWO
from harness.base.paths import CLIENTS, CONTRACT
from harness.cluster.backend_catalogue import AUTO, BACKEND_NAMES
from harness.cluster.run_options import PREFIX
from harness.cluster.topology import BROKERS, MOST_BROKERS
from harness.contract.level import Profile

JVM_OPTS, PROPERTIES = "FENCEPOST_BROKER_JVM_OPTS", "FENCEPOST_BROKER_PROPERTIES"
TARGET_HELP = "kafka:<version> | dist:<.tgz or folder> | image:<reference>[#folder] | external:<host:port,…>"


CLUSTER = ("qualify", "falsify", "chaos", "clients", "explore", "compare", "up", "pytest")
RUN = ("qualify", "falsify", "chaos", "clients", "explore", "compare", "pytest")
RUNNING = ("qualify", "chaos", "clients", "pytest")
JUDGED = ("qualify", "pytest")
CHAOS = ("chaos", "pytest")
OF = {"brokers": (CONTRACT,), "clients": (CLIENTS,), "all": (CONTRACT, CLIENTS)}
"""Whose promises negative controls are of: the folders that state them."""
BACKENDS = {"default": AUTO, "choices": BACKEND_NAMES}


def part_of(text: str) -> tuple[int, int]:
    """``1/4`` as (1, 4); :raises ArgumentTypeError: when it is no part."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ArgumentTypeError(f"{text!r} is no part: write K/N, for example 1/4")
    return int(found[1]), int(found[2])


def count_of_cells(text: str) -> int:
    """A number from 1 on; :raises ArgumentTypeError: for anything else."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of cells: write 1 or more")
    return int(text)


def count_from_one(text: str) -> int:
    """A number from 1 on; :raises ArgumentTypeError: for anything else."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of tries: write 1 or more")
    return int(text)


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
    Option(
        "--budget",
        ("shrink",),
        {"default": "10m", "metavar": "TIME"},
        "how long it may take: 90s, 10m, 2h (default: %(default)s); then the smallest so far is the result",
    ),
    Option(
        "--tries",
        ("shrink",),
        {"type": count_from_one, "default": 3, "metavar": "N"},
        "how often a plan is tried before it counts as green, where the round is not red each time (default: "
        "%(default)s)",
    ),
    Option(
        "--anomaly",
        ("shrink",),
        {"metavar": "NAME"},
        "the anomaly that must stay (default: the first that the report names)",
    ),
    Option(
        "--upgrade",
        CHAOS,
        {"type": upgrade_of, "metavar": "FROM..TO"},
        "start every node with one release, and upgrade the cluster to the other while clients work: 3.9.2..4.3.1, or"
        " TARGET and 3.9.2.. (scenarios: those of upgrades)",
    ),
    Option("--budget", CHAOS, {"metavar": "TIME"}, "how long it may take: 90s, 10m, 2h (default: every scenario once)"),
    Option(
        "--unsteered",
        CHAOS,
        {"action": "store_true"},
        "with --budget: rounds in their order with seeds in a row, instead of those that may visit new situations",
    ),
    Option(
        "--after",
        CHAOS,
        {"type": Path, "metavar": "PATH"},
        "with --budget: go on where earlier sessions ended. The rounds below this folder, or those of which this"
        " visited.json of a session tells, count as played: new ones are chosen for what none of them visited, and the"
        " page counts all of them together",
    ),
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
        " java:4.3.1,java:3.9.2,sarama, or ./a-program (default: the scenarios' own clients)",
    ),
    Option(
        "--plan",
        ("chaos",),
        {"type": Path, "metavar": "FILE", "dest": "plan_file"},
        "play this plan (plan.toml of a round's folder, or what shrink has left of one) instead of what a seed draws",
    ),
    Option(
        "--seconds",
        CHAOS,
        {"type": float, "metavar": "S"},
        "length of each round's storms in seconds (default: the scenario's own, or what the budget allows)",
    ),
    Option(
        "--spark-master",
        (*CHAOS, "replay", "shrink", "trends"),
        {"default": "local[*]", "metavar": "URL"},
        "Spark's master for readers and judge: local[*] (default), spark://…, yarn, k8s://…",
    ),
    Option("--backend", CLUSTER, BACKENDS, "where it runs (default: auto)"),
    Option(
        "--brokers",
        ("up",),
        {"type": int, "default": len(BROKERS), "metavar": "N", "choices": range(1, MOST_BROKERS + 1)},
        f"how many brokers, 1 to {MOST_BROKERS} (default: %(default)s)",
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
        "requirements, groups or KIPs by name, for example KIP890-BUMP-01,VERIFY,KIP-664; !ID leaves one out",
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
        (*RUNNING, "explore", "up"),
        {"type": Path, "metavar": "FILE"},
        "external: how clients connect, in Kafka's own format (security.protocol, sasl.jaas.config, ssl.truststore…)",
    ),
    Option(
        "--prefix",
        (*RUNNING, "explore"),
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
        (*RUNNING, "explore"),
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
        "--against",
        ("chaos",),
        {"type": Path, "metavar": "RUN", "dest": "earlier"},
        "an earlier session's folder: the page tells whether rounds recover and settle slower than there, with a test",
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
        f"clusters of ours that are up at a time (default: {MOST_CLUSTERS} from {PROCESSORS_FOR_TWO} processors on)",
    ),
    Option(
        "--walks",
        ("explore", "compare"),
        {"metavar": "TIME"},
        "explore: in place of cells ask long random sequences of several instances for so long (90s, 10m), those of "
        "suites/model/walks.jsonl first; compare: ask the first target for so long, and the second the same ones (20s)",
    ),
    Option(
        "--slow",
        ("explore",),
        {"action": "store_true"},
        "in place of the other cells those of timeouts, moved coordinators and leaders, and messages that wait",
    ),
    Option(
        "--resume",
        ("explore",),
        {"type": Path, "metavar": "RUN"},
        "go on behind the last cell, or walk, of an exploration that was interrupted or lost",
    ),
    Option(
        "--defended",
        ("explore",),
        {"action": "store_true"},
        "expect the verification of KIP-890 part 1, whether or not the target advertises it",
    ),
    Option(
        "--limit",
        ("explore", "compare"),
        {"type": count_of_cells, "metavar": "N"},
        "only the first N cells, those of the states that are reached soonest (default: all; of a cluster that is not "
        "ours 2000, because each leaves two transactional ids)",
    ),
    Option(
        "--report-dir",
        (*RUN, "shrink"),
        {"type": Path, "metavar": "DIR"},
        "the run folder (default: one in reports/runs)",
    ),
)


def declare(command: str, add: Callable[..., object]) -> None:
    """Declare the options of ``command`` by ``add``: ``argparse``'s ``add_argument`` or pytest's ``addoption``."""
    for option in OPTIONS:
        if command in option.commands:
            add(option.flag, help=option.help, **option.attributes)
