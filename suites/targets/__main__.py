"""``python -m suites.targets [NAME …] [--select ID,…] [--keep DIR]``: judge targets; all of them make the page."""

import argparse
import sys
import tempfile
from pathlib import Path

from harness.base.paths import ROOT
from suites.in_a_sentence import in_a_sentence
from suites.targets.explanations import mismatches, read_explanations
from suites.targets.target_runs import TargetRun, judged
from suites.targets.target_shapes import SHAPES
from suites.targets.targets_page import page

PAGE = ROOT / "reports" / "TARGETS.md"


def main() -> int:
    """Exit code 1 when a sound Kafka does not pass, or failures and explanations differ."""
    given = _parser().parse_args()
    folder = given.keep.absolute() if given.keep else Path(tempfile.mkdtemp(prefix="fencepost-targets-"))
    wanted = [shape for shape in SHAPES if not given.names or shape.name in given.names]
    runs = []
    for shape in wanted:
        runs.append(judged(shape, folder / shape.name, given.select))
        sys.stdout.write(f"{_summary(runs[-1])}\n")
        sys.stdout.flush()
    explanations = read_explanations()
    whole = not given.select and len(runs) == len(SHAPES)
    if whole:
        PAGE.write_text(page(runs, explanations), encoding="utf-8")
    wrong = [] if given.select else list(mismatches(explanations, runs))
    sys.stdout.write("".join(f"{sentence}\n" for sentence in wrong))
    sys.stdout.write(f"runs  {folder}\n" + (f"page  {PAGE}\n" if whole else ""))
    return bool(wrong)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make targets", description=__doc__)
    names = [shape.name for shape in SHAPES]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these of {', '.join(names)}; no page is made")
    parser.add_argument("--select", default="", help="only these requirements; no page is made")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the run folders go")
    return parser


def _summary(run: TargetRun) -> str:
    counts = ", ".join(f"{count} {status}" for status, count in sorted(run.counts.items()))
    return f"{run.shape.name}: exit code {run.exit_code}, {counts}, {run.seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(in_a_sentence(main))
