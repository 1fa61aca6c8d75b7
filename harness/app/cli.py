"""The ``fencepost`` command: thin over pytest for judging, direct for listing, replaying and bringing a cluster up."""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

import pytest

from harness.app import options
from harness.app.clients.client_check import check_client
from harness.app.from_folders.adopt_evidence import adopt_from
from harness.app.from_folders.replay import replay
from harness.app.from_folders.run_matrix import write_matrix
from harness.app.from_folders.trends import TRENDS, declare_trends, write_trends
from harness.app.model.comparing import compare_targets
from harness.app.model.exploring import explore_target
from harness.app.option_table import TARGET_HELP, declare
from harness.app.plugin import GivenOptions, SessionOptions
from harness.base.paths import CLIENTS, CONTRACT, ROOT, SCENARIOS
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.play.within_reach import on_external
from harness.clients.toolchains.shipped import SHIPPED
from harness.cluster.description import described
from harness.cluster.opening import open_cluster
from harness.cluster.target import parse_target
from harness.contract.catalogue.promises import read_promises
from harness.contract.catalogue.requirement_catalogue import RequirementRow, find, requirement_row
from harness.machine.garbage import collect_garbage_rarely
from harness.machine.open_files import allow_open_files
from harness.report.contract.listing import listing

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
"""Plugins of pytest that a judging session has no use for: ours prints the verdicts, and a warning is no verdict."""
SETTINGS = Path(__file__).with_name("judging.ini")
EPILOG = """\
examples:
  fencepost qualify kafka:4.3.1                  judge a release
  fencepost qualify dist:./kafka_2.13-4.4.0.tgz  judge a release candidate's tarball
  fencepost qualify image:me/kafka:rc1           judge a container image
  fencepost qualify external:localhost:9092      judge a running cluster
  fencepost qualify kafka:3.5.2 --select VERIFY  one group only
  fencepost chaos kafka:4.3.1 --budget 10m       search for anomalies under faults
  fencepost chaos kafka:4.3.1 --clients java,sarama   the same with these libraries
  fencepost shrink reports/runs/…                the smallest plan of a red round of chaos
  fencepost trends reports/runs                  rounds of many releases as one table
  fencepost list --json                          the catalogue, for machines
  fencepost replay reports/runs/…                judge last week's evidence again, offline
  fencepost clients --clients java:4.3.1,franz-go:1.22,./my-adapter
                                                 judge clients
  fencepost client ./my-adapter --check          does a program speak the protocol of adapters
  fencepost explore kafka:4.3.1                  every request in every state of the protocol's model
  fencepost compare kafka:4.2.1 kafka:4.3.1      the same of two, and where they differ
  fencepost up kafka:4.1.2                       the topology for a person; Ctrl-C takes it down

exit codes: 0 promises kept, 1 broken or not shown, 2 wrong use, 10 tool missing, 11 no such target,
12 target unreachable, 13 broker not ready, 14 disk full, 15 address in use, 16 evidence unreadable,
17 target refuses every transactional id, 70 Fencepost failed, 130 interrupted"""

COMPARING = """\
Asks two targets the cells and the walks of fencepost explore, one target after the other, and tells where they differ:
a release and the next, a vendor's broker and Kafka. Both are compared with what the first one advertises, so that a
defence which the second lacks is a difference. The shortest path comes first. One walk of each kind that differs is cut
to the shortest, sketched, and kept in walks.jsonl; compared.html in the run folder has all.

  fencepost compare kafka:4.2.1 kafka:4.3.1
  fencepost compare kafka:3.9.2 kafka:3.5.2 --limit 2000 --walks 60s
  fencepost compare kafka:4.3.1 external:host:9092

exit codes: 0 nothing differs, 1 something does, 12 one of them was lost on the way"""
EXPLORING = """\
Compares a running Kafka with an executable model of its transaction protocol (harness/model), request by request.

A cell is a state that a transactional id can be in, and a request that is asked in it: versions, own, previous, newer
and foreign identities, next, repeated and gapped sequences, commits, aborts, markers. The shortest path leads a fresh
id there; then answer, coordinator, leaders, logs and last stable offsets are compared with what the model allows by
what the brokers advertise. Each difference is told with its path, the shortest first; what Kafka's source explains
stands in suites/model/explained.toml. cells.jsonl in the run folder has a line for each cell.

  fencepost explore kafka:4.3.1                  every cell
  fencepost explore kafka:4.3.1 --limit 2000     the states that are reached soonest, in about a minute
  fencepost explore kafka:4.3.1 --walks 90s      random sequences, each difference cut to the shortest
  fencepost explore kafka:4.3.1 --slow           timeouts, moved coordinators and leaders, messages that wait
  fencepost explore kafka:4.3.1 --resume RUN     go on behind the last cell of one that was interrupted
  fencepost explore kafka:3.5.2 --defended       what KIP-890 closes, found
  fencepost explore external:host:9092           a running cluster; markers are written with --allow-changes alone

exit codes: 0 no difference that is not explained, 1 one, or an explanation that is no longer true,
12 lost on the way, 130 interrupted; what was compared before is told and kept"""


SHRINKING = """\
Takes a red round of chaos and finds the smallest plan that still shows the same anomaly: fewer faults, roles,
transactions, seconds. Each try is a round on the round's own target from the same draws, with something left out
(delta debugging); the cluster and Spark stay up between tries. First the whole round is played again. What the finding
names is tried first, then halves and quarters. Ctrl-C and the end of the budget keep the smallest so far.

The result is smallest.toml in the run folder, the command that plays it, in how many of its plays it was red, a
paragraph on what is left, and, where wire clients alone are left, a sketch of a requirement's stimulus.

  fencepost shrink reports/runs/…                the red round of a session
  fencepost shrink reports/runs/… 3              its third round, where several are red
  fencepost shrink reports/runs/… --anomaly stuck-lso --budget 30m

exit codes: 0 a plan was red again, and the smallest is written, 1 the round was not red again, 2 it is not red,
16 no round of chaos"""


_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; an error is one sentence on stderr and an exit code of its own."""
    given = parser().parse_args(arguments)
    allow_open_files()
    collect_garbage_rarely()
    try:
        return int(given.run(given))
    except UserError as error:
        sys.stderr.write(f"fencepost: {error}\n")
        return error.exit
    except KeyboardInterrupt:
        sys.stderr.write("fencepost: interrupted\n")
        return ExitCode.INTERRUPTED


def parser() -> argparse.ArgumentParser:
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
    _shrink(_explained(commands, "shrink", "make a red round of chaos as small as it can be", SHRINKING))
    _falsify(commands.add_parser("falsify", help="prove on broken Kafkas that every requirement can fail"))
    _list(commands.add_parser("list", help="print the catalogue"))
    _replay(commands.add_parser("replay", help="judge a run folder again, offline"))
    _matrix(commands.add_parser("matrix", help="several runs on one page, with what differs between neighbours"))
    _trends(_explained(commands, "trends", "rounds of chaos of many releases as one table", TRENDS))
    _adopt(commands.add_parser("adopt", help="take a sound run's evidence as what a requirement accepts"))
    _clients(commands.add_parser("clients", help="judge clients: what each does with errors, fencing, timeouts"))
    _client(commands.add_parser("client", help="try whether a program is an adapter, without a broker"))
    _compare(_explained(commands, "compare", "ask two Kafkas the same, and tell where they differ", COMPARING))
    asking = "ask a Kafka every request in every state of a model of the protocol"
    _explore(_explained(commands, "explore", asking, EXPLORING))
    _up(commands.add_parser("up", help="bring the topology up and print every address"))
    return top


def _explained(commands: _Commands, name: str, brief: str, text: str) -> argparse.ArgumentParser:
    """A command whose help begins with a text of its own."""
    shown = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(name, help=brief, description=text, formatter_class=shown)


def _qualify(command: argparse.ArgumentParser) -> None:
    command.add_argument("target", help=TARGET_HELP)
    declare("qualify", command.add_argument)
    command.set_defaults(run=_judge)


def _falsify(command: argparse.ArgumentParser) -> None:
    declare("falsify", command.add_argument)
    command.set_defaults(run=_prove)


def _chaos(command: argparse.ArgumentParser) -> None:
    command.add_argument("target", nargs="?", default="", help=f"{TARGET_HELP}; --upgrade FROM..TO names one by itself")
    declare("chaos", command.add_argument)
    command.set_defaults(run=_search)


def _shrink(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of a session of chaos, or of a round")
    command.add_argument("round", nargs="?", metavar="ROUND", help="the round, by its number or name: 3, 003-relay")
    declare("shrink", command.add_argument)
    command.set_defaults(run=_make_small)


def _make_small(given: argparse.Namespace) -> int:
    from harness.app.chaos.shrink_command import shrink_round  # brings in Spark

    return shrink_round(given)


def _list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON array, a row a requirement")
    command.add_argument("--scenarios", action="store_true", help="the scenarios of chaos instead")
    command.add_argument("--clients", action="store_true", help="what clients promise instead of what brokers do")
    command.set_defaults(run=_print_list)


def _replay(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, help="a run folder, as named at the end of a run")
    declare("replay", command.add_argument)
    command.set_defaults(run=_judge_again)


def _matrix(command: argparse.ArgumentParser) -> None:
    command.add_argument("folders", type=Path, nargs="+", metavar="RUN", help="run folders, in the order of the page")
    command.add_argument(
        "--into", type=Path, default=Path("matrix.html"), metavar="FILE", help="the page (default: %(default)s)"
    )
    command.add_argument("--no-links", action="store_true", help="without links to the runs' own pages")
    command.set_defaults(run=_write_matrix)


def _write_matrix(given: argparse.Namespace) -> int:
    sys.stdout.write(f"{write_matrix(given.folders, given.into, links=not given.no_links)}\n")
    return ExitCode.KEPT


def _trends(command: argparse.ArgumentParser) -> None:
    declare_trends(command)
    command.set_defaults(run=_write_trends)


def _write_trends(given: argparse.Namespace) -> int:
    write_trends(given.folders, given.into, master=given.spark_master, progress=options.print_progress)
    return ExitCode.KEPT


def _adopt(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="RUN", help="a run folder, as named at the end of a run")
    command.add_argument("id", metavar="ID", help="the requirement, for example KIP890-BUMP-05")
    command.add_argument("--into", type=Path, metavar="FILE", help="where to (default: beside the requirement's file)")
    command.set_defaults(run=_write_adopted)


def _write_adopted(given: argparse.Namespace) -> int:
    sys.stdout.write(f"{adopt_from(given.folder, given.id, into=given.into)}\n")
    return ExitCode.KEPT


def _clients(command: argparse.ArgumentParser) -> None:
    command.add_argument("--target", default="kafka:4.3.1", help=TARGET_HELP + " (default: %(default)s)")
    declare("clients", command.add_argument)
    command.set_defaults(run=_judge_clients)


def _judge_clients(given: argparse.Namespace) -> int:
    return _pytest(options.clients_options(given, target=given.target), CLIENTS, marker="live")


def _client(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "name", help=f"{', '.join(SHIPPED)}, with a version behind it (librdkafka:2.3), or ./a-program"
    )
    command.add_argument("--check", action="store_true", required=True, help="try the protocol of an adapter")
    command.set_defaults(run=lambda given: check_client(given.name))


def _compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("first", help=TARGET_HELP)
    command.add_argument("second", help="what it is compared with")
    declare("compare", command.add_argument)
    command.set_defaults(run=lambda given: compare_targets(options.compare_options(given)))


def _explore(command: argparse.ArgumentParser) -> None:
    command.add_argument("target", help=TARGET_HELP)
    declare("explore", command.add_argument)
    command.set_defaults(run=lambda given: explore_target(options.explore_options(given)))


def _up(command: argparse.ArgumentParser) -> None:
    command.add_argument("target", help=TARGET_HELP)
    declare("up", command.add_argument)
    command.set_defaults(run=_stay_up)


def _judge(given: argparse.Namespace) -> int:
    return _pytest(options.contract_options(given, target=given.target), CONTRACT, marker="live")


def _prove(given: argparse.Namespace) -> int:
    parsed = options.contract_options(given, target=None, falsify=True)
    return _pytest(parsed, *parsed.of, marker="falsify")


def _search(given: argparse.Namespace) -> int:
    return _pytest(options.chaos_options(given, target=given.target), SCENARIOS, marker="chaos")


def _pytest(parsed: SessionOptions, *suites: Path, marker: str) -> int:
    """A session of pytest that needs no file but ours: its settings, its plugin and what it judges are given to it."""
    words = ["--rootdir", str(ROOT), "-c", str(SETTINGS), "-p", "harness.app.plugin", "--capture=no"]
    words += [f"-pno:{plugin}" for plugin in UNWANTED]
    code = pytest.main([*words, "-m", marker, *map(str, suites)], plugins=[GivenOptions(parsed)])
    return PYTEST_EXITS.get(pytest.ExitCode(code), code) if code in set(pytest.ExitCode) else code


def _print_list(given: argparse.Namespace) -> int:
    if given.scenarios:
        for scenario in find_scenarios(SCENARIOS):
            sys.stdout.write(f"{scenario.name:<26}  {scenario.title}{on_external(scenario.toxics)}\n")
        return ExitCode.KEPT
    rows, others = (_rows(folder) for folder in ((CLIENTS, CONTRACT) if given.clients else (CONTRACT, CLIENTS)))
    if given.json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False) + "\n")
    else:
        listing(rows, read_promises(CONTRACT, CLIENTS), others=[row.id for row in others])
    return ExitCode.KEPT


def _rows(folder: Path) -> list[RequirementRow]:
    return [requirement_row(entry, root=ROOT) for entry in find(folder)]


def _judge_again(given: argparse.Namespace) -> int:
    kept = replay(given.folder, master=given.spark_master, progress=options.print_progress)
    return ExitCode.KEPT if kept else ExitCode.BROKEN


def _stay_up(given: argparse.Namespace) -> int:
    target, wanted = parse_target(given.target), options.cluster_options(given)
    progress = options.print_progress
    with tempfile.TemporaryDirectory(prefix="fencepost-up-") as logs:
        cluster = open_cluster(target, backend=given.backend, options=wanted, run_dir=Path(logs), progress=progress)
        try:
            sys.stdout.write(described(cluster))
            sys.stdout.flush()
            signal.pause()
        finally:
            cluster.close()
    return ExitCode.KEPT
