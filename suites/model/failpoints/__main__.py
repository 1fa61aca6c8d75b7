"""``python -m suites.model.failpoints --into DIR``: break Kafka by each failpoint of the contract, and ask the grid.

What was tried is kept in DIR, a line each, and is not tried again. Exit code 1 where a failpoint is not found that has
no reason in unseen.toml, or a reason fits none.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from harness.base.paths import CONTRACT, ROOT
from suites.in_a_sentence import in_a_sentence
from suites.model.failpoints.broken_clusters import BrokenClusters
from suites.model.failpoints.failpoint_page import page, unused, without_reason
from suites.model.failpoints.known_failpoints import KnownFailpoint, known_failpoints
from suites.model.failpoints.trial_options import add_trial_options, chosen, end_of
from suites.model.failpoints.tried_failpoints import FailpointOutcome, TriedFailpoints, tried
from suites.model.failpoints.unseen_reasons import read_unseen

PAGE = ROOT / "reports" / "MODEL.md"


def main() -> int:
    """Try what is left, in an order of no meaning; make the page of all that was tried."""
    given = _parser().parse_args()
    known, found = known_failpoints(CONTRACT), TriedFailpoints(given.into.absolute())
    wanted = chosen(sorted(known, key=lambda each: (each.version, each.key)), given)
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
    ends = end_of(given)
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
    add_trial_options(parser, PAGE, "what was tried, and the run folders")
    return parser


if __name__ == "__main__":
    sys.exit(in_a_sentence(main))
