"""``python -m suites.flakes TARGET``: judge it many times; exit code 1 when a verdict was not always the same."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from suites.flakes.repeated_runs import differing, judged_once, other_load, statuses
from suites.flakes.run_table import AnotherQuestionError, Question, RunTable
from suites.in_a_sentence import in_a_sentence


def main() -> int:
    """Judge, compare with all runs of the folder, and keep only those folders of runs that are not like the others."""
    given, words = _parser().parse_known_args()
    folder = (given.into or Path(tempfile.mkdtemp(prefix="fencepost-flakes-"))).absolute()
    try:
        table = RunTable(folder, Question(target=given.target, words=words, load=given.load))
    except AnotherQuestionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with other_load(given.load):
        for _ in range(given.runs):
            seed = table.next_seed()
            table.add(judged_once(given.target, seed, table.room(seed), words))
            _tell(table)
    table.forget_usual()
    return _sum_up(table, given.target, given.load)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make flakes", description=__doc__)
    parser.add_argument("target", help="as for fencepost qualify; other words go to it as they are")
    parser.add_argument("--runs", type=int, default=10, help="how many more (default: %(default)s)")
    parser.add_argument("--load", type=int, default=1, help="processes that keep a processor busy (default: 1)")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="DIR",
        help="where the table of runs and the folders of unusual ones go; runs that are there already count with the "
        "new ones, and seeds go on from theirs",
    )
    return parser


def _tell(table: RunTable) -> None:
    last, differ = table.runs[-1], len(differing(table.runs))
    line = f"run {len(table.runs)}: exit code {last.exit_code}, {last.seconds:.0f} s, seed {last.seed}"
    sys.stdout.write(f"{line}, {differ} requirements differ so far\n")
    sys.stdout.flush()


def _sum_up(table: RunTable, target: str, load: int) -> bool:
    runs, odd = table.runs, differing(table.runs)
    for id_, by_verdict in odd.items():
        for verdict, seeds in by_verdict.items():
            sys.stdout.write(f"{id_}  {verdict}  {len(seeds)} of {len(runs)}, seeds {_few(seeds)}\n")
    told = ", ".join(f"{number} {status}" for status, number in sorted(statuses(runs).items()))
    end = f"{len(odd)} requirements differ; runs in {table.folder}" if odd else "no verdict differs"
    sys.stdout.write(f"{target}: {len(runs)} runs, {load} busy processes beside them: {told}; {end}\n")
    return bool(odd)


def _few(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds[:5])) + (", …" if len(seeds) > 5 else "")


if __name__ == "__main__":
    sys.exit(in_a_sentence(main))
