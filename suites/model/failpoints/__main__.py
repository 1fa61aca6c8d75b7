"""``python -m suites.model.failpoints --into DIR``: break Kafka by each failpoint of the contract, and ask the grid.

What was tried is kept in DIR, a line each, and is not tried again. Exit code 1 where a failpoint is not found that has
no reason in unseen.toml, or a reason fits none.
"""

import argparse
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness.app.option_table import part_of
from harness.base.paths import CONTRACT, ROOT
from harness.chaos.plan.chaos_options import parse_seconds
from suites.in_a_sentence import in_a_sentence
from suites.model.failpoints.broken_clusters import BrokenClusters
from suites.model.failpoints.failpoint_page import page, unused, without_reason
from suites.model.failpoints.known_failpoints import KnownFailpoint, known_failpoints
from suites.model.failpoints.tried_failpoints import FailpointOutcome, TriedFailpoints, tried
from suites.model.failpoints.unseen_reasons import read_unseen

PAGE = ROOT / "reports" / "MODEL.md"


def main() -> int:
    """Try what is left, in an order of no meaning; make the page of all that was tried."""
    given = _parser().parse_args()
    known, found = known_failpoints(CONTRACT), TriedFailpoints(given.into.absolute())
    part, parts = given.part
    in_order = sorted(known, key=lambda each: (each.version, each.key))[part - 1 :: parts]
    wanted = [each for each in in_order if given.select in " ".join([each.key, *each.names, *each.places])]
    _try(found.left(wanted), found, given)
    reasons = read_unseen()
    given.page.write_text(page(found.lines, len(known), reasons), encoding="utf-8")
    lacking = without_reason(found.lines, reasons)
    whole = not found.left(known)
    stale = unused(found.lines, reasons) if whole else ()
    for line in lacking:
        sys.stdout.write(f"not found, and no reason: {line.key} {'; '.join(line.names)}\n")
    for reason in stale:
        sys.stdout.write(f"a reason that fits none: {reason.reason}\n")
    sys.stdout.write(f"{len(found.lines)} of {len(known)} tried; page  {given.page}\n")
    return bool(lacking or stale)


def _try(left: Sequence[KnownFailpoint], found: TriedFailpoints, given: argparse.Namespace) -> None:
    """Until time is up."""
    ends = time.monotonic() + (math.inf if given.budget is None else parse_seconds(given.budget))
    with BrokenClusters(folder=found.folder, backend=given.backend) as clusters:
        for failpoint in left:
            if time.monotonic() > ends:
                return
            skipped = tried(failpoint, FailpointOutcome.OF_A_TOOL) if failpoint.of_a_tool else None
            line = skipped or clusters.tried(failpoint)
            found.add(line)
            told = f"{line.outcome} with {line.cells} cells, {line.seconds:.0f} s"
            sys.stdout.write(f"{line.key} {'; '.join(line.places)}: {told}\n")
            sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m suites.model.failpoints", description=__doc__)
    parser.add_argument("--into", type=Path, required=True, metavar="DIR", help="what was tried, and the run folders")
    parser.add_argument(
        "--select", default="", metavar="TEXT", help="only those whose key, rule or place has this text"
    )
    parser.add_argument(
        "--part",
        type=part_of,
        default=(1, 1),
        metavar="K/N",
        help="every N-th of them, each part with a DIR of its own",
    )
    parser.add_argument("--budget", metavar="TIME", help="begin with no other one after that time (90s, 10m)")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the page goes (default: reports/MODEL.md)")
    parser.add_argument("--backend", default="auto", help="auto, process or docker")
    return parser


if __name__ == "__main__":
    sys.exit(in_a_sentence(main))
