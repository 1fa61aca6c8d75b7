"""``fencepost shrink``: the search from its beginning to what it tells."""

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator

from harness.app.chaos.chaos_session import ChaosSession
from harness.app.chaos.red_round import RedRound, find_red_round, finding_of, options_of_round
from harness.app.chaos.shrink_session import ShrinkSession
from harness.app.chaos.shrink_words import sizes, sketch_of, what_is_left
from harness.app.options import chaos_run, planned_options
from harness.base.user_error import ExitCode
from harness.chaos.plan.chaos_options import ChaosOptions, parse_seconds
from harness.chaos.shrink.first_guesses import first_guesses
from harness.chaos.shrink.plan_search import BudgetOver, PlanSearch
from harness.report.shared.words import count, duration


def shrink_round(given: Namespace) -> ExitCode:
    """Search, and tell the smallest plan; also after an interrupt, with what was found until then.

    :raises UserError: When the folder holds no red round that could be shrunk, or its target cannot be had.
    """
    search, shrinking = open_search(given)
    try:
        _search(search, shrinking)
    except KeyboardInterrupt:
        sys.stdout.write(_told(search, shrinking))
        raise
    finally:
        shrinking.session.close()
    sys.stdout.write(_told(search, shrinking))
    return ExitCode.KEPT if shrinking.shown else ExitCode.BROKEN


def open_search(given: Namespace) -> tuple[PlanSearch, ShrinkSession]:
    """The search, and the session that plays its plans and is to be closed; nothing is started yet.

    :raises UserError: When the folder holds no red round that could be shrunk.
    """
    red = find_red_round(given.folder, given.round, given.anomaly)
    session = ChaosSession(options=_options(red, given), command=_command(given))
    shrinking = ShrinkSession(red=red, session=session, budget_seconds=parse_seconds(given.budget))
    search = PlanSearch(
        smallest=red.plan,
        play=shrinking.play,
        has_time=shrinking.has_time,
        keep=shrinking.keep,
        most_tries=given.tries,
    )
    return search, shrinking


def _search(search: PlanSearch, shrinking: ShrinkSession) -> None:
    red = shrinking.red
    try:
        if search.confirm():
            search.search(first_guesses(red.plan, red.finding, red.results.faults))
    except BudgetOver:
        shrinking.session.options.run.progress("the budget does not reach for another try")
    shrinking.searching = False
    try:
        if shrinking.shown:
            search.measure()
    except BudgetOver:
        return


def _options(red: RedRound, given: Namespace) -> ChaosOptions:
    """As the round was run, into a folder of its own."""
    ran = options_of_round(red.results)
    ran.report_dir, ran.budget, ran.spark_master, ran.seed = given.report_dir, None, given.spark_master, red.plan.seed
    run = chaos_run(ran, ran.target, folder_name="shrink")
    return planned_options(run, red.plan, None, ran)


def _command(given: Namespace) -> str:
    words = ["fencepost", "shrink", str(given.folder), *([given.round] if given.round else [])]
    words += ["--budget", given.budget, "--tries", str(given.tries)]
    return shlex.join([*words, *(["--anomaly", given.anomaly] if given.anomaly else [])])


def _told(search: PlanSearch, shrinking: ShrinkSession) -> str:
    return "\n".join(_lines(search, shrinking)) + "\n"


def _lines(search: PlanSearch, shrinking: ShrinkSession) -> Iterator[str]:
    red, played = shrinking.red, f"{count(search.plays, 'round', 'rounds')} in {duration(1000 * shrinking.seconds)}"
    if shrinking.shown is None:
        yield f"{red.results.folder.name} was not red again with {red.anomaly}; {played}"
        return
    reds, plays = search.share(search.smallest)
    yield f"the smallest plan that still shows {red.anomaly}, red in {reds} of {plays} plays; {played}:"
    yield from sizes(red.plan, search.smallest)
    found = finding_of(shrinking.shown, red.anomaly)
    yield what_is_left(search.smallest, found, shrinking.shown.faults)
    if lines := sketch_of(search.smallest, found):
        yield "as a requirement's stimulus it would begin like this:"
        yield from (f"  {line}" for line in lines.splitlines())
    yield f"plan    {shrinking.place}"
    yield f"again   {shrinking.session.options.run.command('chaos', '--plan', str(shrinking.place))}"
