"""``python -m suites.flakes TARGET``: judge it many times; exit code 1 when a verdict was not always the same."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from suites.flakes.repeated_runs import RepeatedRun, differing, judged_once, other_load, statuses


def main() -> int:
    """Judge, compare, and keep only the folders of runs that are not like the others."""
    given, words = _parser().parse_known_args()
    folder = (given.keep or Path(tempfile.mkdtemp(prefix="fencepost-flakes-"))).absolute()
    runs: list[RepeatedRun] = []
    with other_load(given.load):
        for seed in range(given.first_seed, given.first_seed + given.runs):
            runs.append(judged_once(given.target, seed, folder / str(seed), words))
            _tell(runs, given.runs)
    odd = differing(runs)
    for id_, by_verdict in odd.items():
        for verdict, seeds in by_verdict.items():
            sys.stdout.write(f"{id_}  {verdict}  {len(seeds)} of {len(runs)}, seeds {_few(seeds)}\n")
    _forget_usual(folder, runs, {seed for one in odd.values() for seeds in [*one.values()][:-1] for seed in seeds})
    told = ", ".join(f"{number} {status}" for status, number in sorted(statuses(runs).items()))
    end = f"{len(odd)} requirements differ; runs in {folder}" if odd else "no verdict differs"
    sys.stdout.write(f"{given.target}: {len(runs)} runs, {given.load} busy processes beside them: {told}; {end}\n")
    return bool(odd)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make flakes", description=__doc__)
    parser.add_argument("target", help="as for fencepost qualify; other words go to it as they are")
    parser.add_argument("--runs", type=int, default=10, help="how many (default: %(default)s)")
    parser.add_argument("--first-seed", type=int, default=1, help="seeds count from here (default: %(default)s)")
    parser.add_argument("--load", type=int, default=1, help="processes that keep a processor busy (default: 1)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the folders of unusual runs go")
    return parser


def _tell(runs: Sequence[RepeatedRun], wanted: int) -> None:
    last = runs[-1]
    line = f"run {len(runs)} of {wanted}: exit code {last.exit_code}, {last.seconds:.0f} s, seed {last.seed}"
    sys.stdout.write(f"{line}, {len(differing(runs))} requirements differ so far\n")
    sys.stdout.flush()


def _few(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds[:5])) + (", …" if len(seeds) > 5 else "")


def _forget_usual(folder: Path, runs: Sequence[RepeatedRun], unusual: set[int]) -> None:
    for run in runs:
        if run.seed not in unusual:
            shutil.rmtree(folder / str(run.seed))


if __name__ == "__main__":
    sys.exit(main())
