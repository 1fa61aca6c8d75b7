"""The options of the command line and of pytest, declared in :mod:`harness.app.option_table`, parsed once into values.

The only place that reads the environment for the product: ``FENCEPOST_BROKER_JVM_OPTS`` (shell words) and
``FENCEPOST_BROKER_PROPERTIES`` (``key=value`` lines), so that a vendor can attach an agent or a setting from CI.
"""

import os
import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.app.clients.clients_session import CLIENT_JOBS, ClientsOptions
from harness.app.contract_session import ContractOptions
from harness.app.model.comparing import WALK_SECONDS, CompareOptions
from harness.app.option_table import JVM_OPTS, OF, PROPERTIES
from harness.app.side_by_side import JOBS, usual_clusters
from harness.base.paths import SCENARIOS, runs_folder
from harness.base.property_lines import parse_properties
from harness.base.seed import Seed
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.chaos_options import ChaosOptions, parse_seconds
from harness.chaos.plan.plan_file import read_plan, scenario_of
from harness.chaos.plan.round_folders import rounds_below, rounds_of
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.plan.scenario import Scenario
from harness.chaos.plan.scenario_catalogue import find_scenarios, select_scenarios
from harness.clients.stdio.adapter_name import AdapterCommand, adapter_command
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.cluster.cluster import ClusterOptions
from harness.cluster.run_options import PREFIX, Permissions, RunOptions
from harness.cluster.target import External, parse_target
from harness.cluster.topology import BROKERS
from harness.contract.level import Profile
from harness.evidence.json_codec import Malformed
from harness.evidence.situations.earlier_situations import (
    VISITED,
    EarlierSituations,
    earlier_situations,
    read_visited,
)
from harness.explore.explore_options import ExploreOptions

NAME = r"[a-zA-Z0-9._-]{1,100}"
"""What names of ours may begin with (Kafka's ``Topic.LEGAL_CHARS``)."""


def contract_options(given: Namespace, *, target: str | None, falsify: bool = False) -> ContractOptions:
    """The options of a qualification; :raises UserError: when one of them is malformed."""
    run = run_options(given, target or "", folder_name=target or "falsify")
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
        run=run_options(given, target, folder_name=f"clients-{target}"),
        clients=names,
        select=given.select,
        profile=Profile(given.profile or Profile.KIP),
        known_failing=given.known_clients,
        write_known=given.write_known_clients,
        jobs=given.jobs or CLIENT_JOBS,
    )


def chaos_options(given: Namespace, *, target: str) -> ChaosOptions:
    """The options of a session of chaos; :raises UserError: when one of them is malformed."""
    run = chaos_run(given, target, folder_name="chaos")
    if (file := getattr(given, "plan_file", None)) is not None:
        return _planned_options(given, run, file)
    upgraded = [each for each in find_scenarios(SCENARIOS) if given.scenarios or each.upgrades == bool(given.upgrade)]
    scenarios = select_scenarios(given.scenarios, upgraded)
    chosen = [adapter_command(name, print_progress) for name in _names(given.clients)]
    clients = [client.name for client in chosen]
    played = [scenario.played_by(clients) for scenario in scenarios] if clients else scenarios
    return ChaosOptions(
        run=run,
        budget_seconds=None if given.budget is None else parse_seconds(given.budget),
        round_seconds=given.seconds,
        upgrade=given.upgrade.first if given.upgrade else "",
        scenarios=played,
        clients=clients,
        programs={client.name: client for client in chosen} or own_programs(scenarios),
        against=_earlier_rounds(given),
        spark_master=given.spark_master,
        chosen=bool(given.scenarios),
        unsteered=given.unsteered,
        after=_after(given),
    )


def chaos_run(given: Namespace, target: str, *, folder_name: str) -> RunOptions:
    """The target, the cluster and the folder of a session; :raises UserError: when one of them is malformed."""
    if given.upgrade is not None:
        target = given.upgrade.target(target)
    elif not target:
        raise UserError("name a target: fencepost chaos kafka:4.3.1", exit=ExitCode.USAGE)
    run = run_options(given, target, folder_name=f"{folder_name}-{target}")
    if given.upgrade is not None:
        run = replace(run, cluster=given.upgrade.started(run.cluster, target=target, backend=run.backend))
    if run.permissions.topics:
        raise UserError("chaos makes topics of its own, and cannot run on given ones (--topics)", exit=ExitCode.USAGE)
    return run


def _planned_options(given: Namespace, run: RunOptions, file: Path) -> ChaosOptions:
    fixed = ("seed", "scenarios", "clients", "seconds")
    if also := [f"--{name}" for name in fixed if getattr(given, name) not in (None, "")]:
        raise UserError(
            f"{', '.join(also)}: the plan fixes scenario, seed, length and clients; change them in {file}",
            exit=ExitCode.USAGE,
        )
    return planned_options(run, read_plan(file), file, given)


def planned_options(run: RunOptions, plan: RoundPlan, file: Path | None, given: Namespace) -> ChaosOptions:
    """The options of a session that plays a plan; :raises UserError: when a client of the plan cannot be had."""
    scenario = scenario_of(plan)
    return ChaosOptions(
        run=replace(run, seed=Seed(plan.seed)),
        plan=plan,
        plan_file=file and file.absolute(),
        budget_seconds=None if given.budget is None else parse_seconds(given.budget),
        scenarios=(scenario,),
        upgrade=given.upgrade.first if given.upgrade else "",
        programs=own_programs((scenario,)),
        against=_earlier_rounds(given),
        spark_master=given.spark_master,
    )


def _earlier_rounds(given: Namespace) -> Sequence[Path]:
    """The rounds of ``--against``; :raises UserError: when the folder holds none."""
    folder = getattr(given, "earlier", None)
    rounds = () if folder is None else rounds_of(folder.absolute())
    if folder is not None and not rounds:
        raise UserError(
            f"--against {folder}: it holds no round of chaos; name the folder of an earlier session",
            exit=ExitCode.EVIDENCE_UNREADABLE,
        )
    return rounds


def _after(given: Namespace) -> tuple[Path, EarlierSituations] | None:
    """The path of ``--after``; :raises UserError: when it cannot be read, tells of no round, or nothing is steered."""
    if given.after is None:
        return None
    if given.budget is None or given.unsteered:
        raise UserError("--after: only a session with --budget and without --unsteered is steered", exit=ExitCode.USAGE)
    path: Path = given.after.absolute()
    try:
        before = earlier_situations(rounds_below(path)) if path.is_dir() else read_visited(path)
    except Malformed as error:
        raise UserError(f"--after {given.after}: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error
    if before is None or not before.rounds:
        sentence = f"--after {given.after}: it tells of no round of chaos that recorded what it visited"
        remedy = f"name the folder of a session, or of several, or the {VISITED} of one"
        raise UserError(f"{sentence}; {remedy}", exit=ExitCode.EVIDENCE_UNREADABLE)
    return path, before


def own_programs(scenarios: Sequence[Scenario]) -> Mapping[str, AdapterCommand]:
    """What starts the scenarios' own clients, but for those that live in our process.

    It is not they who are judged: what librdkafka does with positions that are not stable (KIP447-CLI-01) is left out.
    """
    names = sorted({name for scenario in scenarios for name in scenario.clients} - ADAPTERS.keys())
    commands = {name: adapter_command(name, print_progress) for name in names}
    return {name: replace(command, looks_up_positions=True) for name, command in commands.items()}


def explore_options(given: Namespace) -> ExploreOptions:
    """The options of an exploration; :raises UserError: when one of them is malformed."""
    return ExploreOptions(
        run=run_options(given, given.target, folder_name=f"{given.target}-explore"),
        limit=given.limit,
        slow=given.slow,
        defended=given.defended,
        resume=given.resume and given.resume.absolute(),
        walk_seconds=None if given.walks is None else parse_seconds(given.walks),
    )


def compare_options(given: Namespace) -> CompareOptions:
    """The options of a comparison; :raises UserError: when one of them is malformed."""
    run = run_options(given, given.first, folder_name=f"{given.first}-compare")
    parse_target(given.second)
    walk_seconds = WALK_SECONDS if given.walks is None else parse_seconds(given.walks)
    return CompareOptions(run=run, second=given.second, limit=given.limit, walk_seconds=walk_seconds)


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


def run_options(given: Namespace, target: str, *, folder_name: str) -> RunOptions:
    """What every run is given; :raises UserError: when it is malformed."""
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
