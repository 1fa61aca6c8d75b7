"""The ``fencepost`` command: thin over pytest for judging, direct for listing, replaying and bringing a cluster up."""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from harness.app import options
from harness.app.adopt_evidence import adopt_from
from harness.app.contract_replay import replay
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.round_folders import is_chaos
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.cluster.backend_catalogue import AUTO, BACKEND_NAMES
from harness.cluster.description import described
from harness.cluster.opening import open_cluster
from harness.cluster.target import parse_target
from harness.contract import kept
from harness.contract.requirement_catalogue import RequirementRow, find, requirement_row
from harness.report.contract.listing import listing
from harness.report.contract.terminal import conclude

PYTEST_EXITS = {
    pytest.ExitCode.INTERRUPTED: ExitCode.INTERRUPTED,
    pytest.ExitCode.INTERNAL_ERROR: ExitCode.INTERNAL,
    pytest.ExitCode.USAGE_ERROR: ExitCode.USAGE,
    pytest.ExitCode.NO_TESTS_COLLECTED: ExitCode.USAGE,
}
UNWANTED = (
    *("terminal", "cacheprovider", "randomly", "hypothesispytest", "benchmark"),
    *("warnings", "unraisableexception", "threadexception"),
)
"""Plugins of pytest that a judging session has no use for: verdicts are told by ours, and a warning is no verdict."""
EPILOG = """\
examples:
  fencepost qualify kafka:4.3.1                  judge a release
  fencepost qualify dist:./kafka_2.13-4.4.0.tgz  judge a release candidate's tarball
  fencepost qualify image:me/kafka:rc1           judge a container image
  fencepost qualify external:localhost:9092      judge a running cluster
  fencepost qualify kafka:3.5.2 --select VERIFY  one group only
  fencepost chaos kafka:4.3.1 --budget 10m       search for anomalies under faults
  fencepost list --json                          the catalogue, for machines
  fencepost replay reports/runs/…                judge last week's evidence again, offline
  fencepost up kafka:4.1.2                       the topology for a person; Ctrl-C takes it down

exit codes: 0 promises kept, 1 broken or not shown, 2 wrong use, 10 tool missing, 11 no such target,
12 target unreachable, 13 broker not ready, 14 disk full, 15 address in use, 16 evidence unreadable,
70 Fencepost failed, 130 interrupted"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; every trouble is one sentence on stderr and an exit code of its own."""
    given = parser().parse_args(arguments)
    try:
        return int(given.run(given))
    except UserError as error:
        sys.stderr.write(f"fencepost: {error}\n")
        return error.exit
    except KeyboardInterrupt:
        sys.stderr.write("fencepost: interrupted\n")
        return ExitCode.INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(
        prog="fencepost",
        description="Tells whether a Kafka keeps its transaction promises.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _qualify(commands.add_parser("qualify", help="judge a Kafka, requirement by requirement"))
    _chaos(
        commands.add_parser("chaos", help="several clients, many transactions, faults: is every record accounted for")
    )
    _falsify(commands.add_parser("falsify", help="prove on broken Kafkas that every requirement can fail"))
    _list(commands.add_parser("list", help="print the catalogue"))
    _replay(commands.add_parser("replay", help="judge a run folder again, offline"))
    _adopt(commands.add_parser("adopt", help="take a sound run's evidence as what a requirement accepts"))
    _up(commands.add_parser("up", help="bring the topology up and print every address"))
    return top


def _qualify(command: argparse.ArgumentParser) -> None:
    command.add_argument("target", help=options.TARGET_HELP)
    _run_options(command)
    command.add_argument("--report-dir", type=Path, metavar="DIR", help=options.FOLDER_HELP)
    command.set_defaults(run=_judge)


def _falsify(command: argparse.ArgumentParser) -> None:
    _run_options(command)
    command.add_argument("--report-dir", type=Path, metavar="DIR", help=options.FOLDER_HELP)
    command.set_defaults(run=lambda given: _pytest(given, ["-m", "falsify", "--falsify"]))


def _chaos(command: argparse.ArgumentParser) -> None:
    command.add_argument("target", help=options.TARGET_HELP)
    command.add_argument("--budget", metavar="TIME", help=options.BUDGET_HELP)
    command.add_argument("--scenarios", default="", metavar="NAME,…", help=options.SCENARIOS_HELP)
    command.add_argument("--seed", type=int, metavar="N", help=options.SEED_HELP)
    command.add_argument("--seconds", type=float, metavar="S", help=options.SECONDS_HELP)
    command.add_argument("--spark-master", default="local[*]", metavar="URL", help=options.MASTER_HELP)
    _cluster_options(command)
    command.add_argument("--report-dir", type=Path, metavar="DIR", help=options.FOLDER_HELP)
    command.set_defaults(run=_storm)


def _list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON array, a row a requirement")
    command.add_argument("--scenarios", action="store_true", help="the scenarios of chaos instead")
    command.set_defaults(run=_print_list)


def _replay(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, help="a run folder, as named at the end of a run")
    command.add_argument("--spark-master", default="local[*]", metavar="URL", help=options.MASTER_HELP)
    command.set_defaults(run=_print_replay)


def _adopt(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="RUN", help="a run folder, as named at the end of a run")
    command.add_argument("id", metavar="ID", help="the requirement, for example KIP890-BUMP-05")
    command.add_argument("--into", type=Path, metavar="FILE", help="where to (default: beside the requirement's file)")
    command.set_defaults(run=_write_adopted)


def _write_adopted(given: argparse.Namespace) -> int:
    sys.stdout.write(f"{adopt_from(given.folder, given.id, list(find(options.CONTRACT)), into=given.into)}\n")
    return ExitCode.KEPT


def _up(command: argparse.ArgumentParser) -> None:
    command.add_argument("target", help=options.TARGET_HELP)
    _cluster_options(command)
    command.set_defaults(run=_stay_up)


def _run_options(command: argparse.ArgumentParser) -> None:
    _cluster_options(command)
    command.add_argument("--select", default="", metavar="ID,GROUP,…", help=options.SELECT_HELP)
    command.add_argument("--seed", type=int, metavar="N", help=options.SEED_HELP)


def _cluster_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--backend", default=AUTO, choices=BACKEND_NAMES, help="where it runs (default: auto)")
    command.add_argument("--broker-jvm-opt", action="append", default=[], metavar="OPT", help=options.JVM_HELP)
    command.add_argument("--broker-property", action="append", default=[], metavar="K=V", help=options.PROPERTY_HELP)


def _judge(given: argparse.Namespace) -> int:
    parse_target(given.target)
    return _pytest(given, ["-m", "live", "--target", given.target])


def _storm(given: argparse.Namespace) -> int:
    parse_target(given.target)
    words = ["-m", "chaos", "--chaos", given.target, f"--scenarios={given.scenarios}"]
    words += [f"--spark-master={given.spark_master}"]
    words += [f"--budget={given.budget}"] if given.budget else []
    words += [f"--seconds={given.seconds}"] if given.seconds else []
    return _pytest(given, words, suite=options.SCENARIOS)


def _pytest(given: argparse.Namespace, wanted: list[str], suite: Path = options.CONTRACT) -> int:
    options.cluster_options(given.broker_jvm_opt, given.broker_property)
    quiet = ["--capture=no", *(f"-pno:{plugin}" for plugin in UNWANTED)]
    place = ["--rootdir", str(options.ROOT), "-c", str(options.ROOT / "pyproject.toml"), str(suite)]
    words = ["--backend", given.backend]
    words += [f"--select={given.select}"] if getattr(given, "select", "") else []
    words += [] if given.seed is None else ["--seed", str(given.seed)]
    words += [f"--report-dir={given.report_dir.absolute()}"] if given.report_dir else []
    words += [f"--broker-jvm-opt={option}" for option in given.broker_jvm_opt]
    words += [f"--broker-property={line}" for line in given.broker_property]
    code = pytest.main([*place, *quiet, *wanted, *words])
    return PYTEST_EXITS.get(pytest.ExitCode(code), code) if code in set(pytest.ExitCode) else code


def _rows() -> list[RequirementRow]:
    return [requirement_row(entry, root=options.ROOT) for entry in find(options.CONTRACT)]


def _print_list(given: argparse.Namespace) -> int:
    if given.scenarios:
        for scenario in find_scenarios(options.SCENARIOS):
            sys.stdout.write(f"{scenario.name:<26}  {scenario.title}\n")
        return ExitCode.KEPT
    rows = _rows()
    if given.json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False) + "\n")
    else:
        listing(rows)
    return ExitCode.KEPT


def _print_replay(given: argparse.Namespace) -> int:
    if is_chaos(given.folder):
        return _replay_chaos(given)
    folder, rows, verdicts, page = replay(given.folder, list(find(options.CONTRACT)), _rows())
    conclude(sys.stdout, folder, rows, verdicts, page)
    return ExitCode.KEPT if all(map(kept, verdicts)) else ExitCode.BROKEN


def _replay_chaos(given: argparse.Namespace) -> int:
    from harness.app.chaos_replay import replay as replay_chaos  # brings in Spark, which no other command needs

    return ExitCode.KEPT if replay_chaos(given.folder, master=given.spark_master, progress=_say) else ExitCode.BROKEN


def _stay_up(given: argparse.Namespace) -> int:
    words = options.cluster_options(given.broker_jvm_opt, given.broker_property)
    with tempfile.TemporaryDirectory(prefix="fencepost-up-") as logs:
        cluster = open_cluster(
            parse_target(given.target), backend=given.backend, options=words, run_dir=Path(logs), progress=_say
        )
        try:
            sys.stdout.write(described(cluster))
            sys.stdout.flush()
            signal.pause()
        finally:
            cluster.close()
    return ExitCode.KEPT


def _say(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")
