"""``python -m suites.chaos.failpoints --into DIR``: break Kafka by each known failpoint, and play chaos.

What was tried is kept in DIR, a line each, with the rounds that are red, and is not tried again.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from harness.base.paths import ROOT, SCENARIOS
from harness.chaos.plan.chaos_options import parse_seconds
from harness.chaos.plan.scenario_catalogue import find_scenarios, select_scenarios
from suites.chaos.failpoints.broken_sessions import BrokenSessions
from suites.chaos.failpoints.chaos_trials import ChaosTrials
from suites.chaos.failpoints.found_page import found_page, unused
from suites.chaos.failpoints.missed_reasons import read_missed
from suites.chaos.failpoints.own_failpoints import chaos_failpoints
from suites.in_a_sentence import in_a_sentence
from suites.model.failpoints.known_failpoints import KnownFailpoint
from suites.model.failpoints.trial_options import add_trial_options, chosen, end_of

PAGE = ROOT / "reports" / "CHAOS.md"


def main() -> int:
    """Try what is left, make the page of all that was tried."""
    given = _parser().parse_args()
    known, found, seconds = chaos_failpoints(), ChaosTrials(given.into.absolute()), parse_seconds(given.each)
    # By its key, which has no meaning, so that the share of those that were tried is one of all.
    wanted = chosen(sorted(known, key=lambda each: each.key), given)
    _try(found.left(wanted), found, given, seconds)
    reasons = read_missed()
    given.page.write_text(found_page(found.lines, len(known), seconds, reasons), encoding="utf-8")
    for reason in unused(found.lines, reasons) if not found.left(known) else ():
        sys.stdout.write(f"a reason that fits none: {reason.reason}\n")
    sys.stdout.write(f"{len(found.lines)} of {len(known)} tried; page  {given.page}\n")
    return 0


def _try(left: Sequence[KnownFailpoint], found: ChaosTrials, given: argparse.Namespace, seconds: float) -> None:
    """Until time is up."""
    ends = end_of(given)
    selected = select_scenarios(given.scenarios, find_scenarios(SCENARIOS))
    scenarios = [each for each in selected if not each.upgrades]
    with BrokenSessions(folder=found.folder, scenarios=scenarios, backend=given.backend, seconds=seconds) as sessions:
        for failpoint in left:
            if time.monotonic() > ends:
                return
            line = sessions.tried(failpoint)
            found.add(line)
            shows = f" ({', '.join(line.anomalies)})" if line.anomalies else ""
            told = f"{line.outcome}{shows} after {len(line.rounds)} rounds, {line.seconds:.0f} s"
            sys.stdout.write(f"{line.key} {'; '.join(line.names)}: {told}\n")
            sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m suites.chaos.failpoints", description=__doc__)
    add_trial_options(parser, PAGE, "what was tried, and red rounds")
    parser.add_argument(
        "--scenarios",
        default="",
        metavar="NAME,…",
        help="play only these, as of a failpoint that only they can meet; then DIR and the page should be others, too",
    )
    parser.add_argument("--each", default="3m", metavar="TIME", help="what a session may take (default: %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(in_a_sentence(main))
