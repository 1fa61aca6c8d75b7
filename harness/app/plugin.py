"""The pytest plugin: options, collection of requirement files, their order, progress, reports at the end.

Registered by ``conftest.py``. Without ``--target`` or ``--falsify`` only the offline controls appear and no broker
starts. What the command line wished for is read in :mod:`harness.app.options`.
"""

import signal
import sys
from collections.abc import Generator
from pathlib import Path
from typing import NoReturn

import pytest

from harness.app.contract_session import SESSION, ContractSession
from harness.app.options import CONTRACT, ROOT, add_options, read_chaos_wish, read_wish
from harness.app.requirement_items import FalsifyItem, LiveItem, RequirementFile, RequirementItem
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.contract import Status, Verdict
from harness.contract.refuters import describe
from harness.contract.requirement_catalogue import RequirementRow, find, requirement_row, states_requirement
from harness.contract.selection import selected
from harness.machine.download_cache import full_disk, room_needed
from harness.report.contract.terminal import ProgressLines, conclude
from harness.report.shared import allure, junit
from harness.run import publish

PROGRESS = pytest.StashKey[ProgressLines]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that ``fencepost qualify`` hands on."""
    add_options(parser.getgroup("fencepost", "Fencepost: does this Kafka keep its transaction promises?"))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Read the wish; point JUnit and Allure into the run folder."""
    config.addinivalue_line("markers", "control: offline, on doctored evidence")
    try:
        session = config.stash[SESSION] = ContractSession(wish=read_wish(config), progress=_say)
        if (chaos := read_chaos_wish(config)) is not None:
            _register_chaos(config, chaos)
    except UserError as error:
        pytest.exit(str(error), returncode=_code(error))  # before the session begins pytest prints it by itself
    if session.has_target or session.falsifying:
        config.option.xmlpath = config.option.xmlpath or str(session.wish.folder / "junit.xml")
        config.option.allure_report_dir = config.option.allure_report_dir or str(session.wish.folder / "allure-results")
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _register_chaos(config: pytest.Config, wish: ChaosOptions) -> None:
    from harness.app import chaos_plugin, chaos_session

    chaos_plugin.register(config, chaos_session.ChaosSession(wish=wish, progress=_say))
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file of the contract that binds ``REQUIREMENT`` or ``REQUIREMENTS`` is collected by us, whatever its name."""
    if file_path.suffix == ".py" and CONTRACT in file_path.parents and states_requirement(file_path):
        collected: RequirementFile = RequirementFile.from_parent(parent, path=file_path)
        return collected
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select; the calm before those that disturb; negative controls by release, so that one cluster is up at a time."""
    session = config.stash[SESSION]
    if not any(isinstance(item, RequirementItem) for item in items):
        return
    session.rows = [requirement_row(entry, root=ROOT) for entry in find(CONTRACT)]
    if session.wish.select:
        try:
            chosen = selected(session.wish.select, session.rows)
        except UserError as error:
            _give_up(error)
        config.hook.pytest_deselected(items=[item for item in items if _id(item) not in chosen])
        items[:] = [item for item in items if _id(item) in chosen]
        session.rows = [row for row in session.rows if row.id in chosen]
    items.sort(key=_rank)
    judged = [item for item in items if isinstance(item, LiveItem | FalsifyItem)]
    config.stash[PROGRESS] = ProgressLines(stream=sys.stdout, total=len(judged))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Trouble outside the judged Kafka ends the session with one sentence and its own exit code."""
    try:
        with room_needed():
            return (yield)
    except UserError as error:
        _give_up(error)
    finally:
        if isinstance(item, LiveItem | FalsifyItem) and item.verdict is not None:
            allure.label(_row(item), item.verdict)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show each verdict as it is given; a stimulus that crashed is UNDECIDED, with its trace."""
    report = yield
    if isinstance(item, LiveItem | FalsifyItem) and call.when == "call":
        verdict, stated = item.verdict or _crashed(item, call), _row(item)
        item.user_properties.extend(junit.properties(stated, verdict))
        if isinstance(item, FalsifyItem):
            _say(f"{stated.id:<20}  {'NOT REFUTED' if report.failed else 'refuted'} by {describe(item.refuter)}")
        else:
            item.config.stash[PROGRESS].judged(stated, verdict)
    if report.failed and isinstance(item, FalsifyItem):
        _say(str(report.longrepr))
    return report


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, str] | None:
    """No letters among our progress lines."""
    if config.stash[SESSION].has_target and report.when == "call" and config.option.capture == "no":
        return report.outcome, "", ""
    return None


def pytest_internalerror(excinfo: pytest.ExceptionInfo[BaseException]) -> bool | None:
    """A full disk that another plugin meets first (JUnit's, Allure's) is told as one, without its trace."""
    return True if full_disk(excinfo.value) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """End every cluster and write the reports, also after another plugin failed at its own; say where they are."""
    ours = session.config.stash[SESSION]
    try:
        with room_needed():
            try:
                yield
            finally:
                ours.close()
    except UserError as error:
        _give_up(error)
    if ours.falsifying:
        _say(f"{session.testscollected - session.testsfailed} of {session.testscollected} negative controls turned red")
        return
    for run, page in zip(ours.runs.values(), ours.reports, strict=True):
        conclude(sys.stdout, run.folder, ours.rows_of(run), run.verdicts, page)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be collected is told even where pytest's own terminal is off."""
    if report.failed:
        _say(str(report.longrepr))


def _give_up(error: UserError) -> NoReturn:
    """One sentence and the exit code; a wrong use is told to pytest as its own usage error."""
    _say(f"fencepost: {error}")
    pytest.exit(str(error), returncode=_code(error))


def _code(error: UserError) -> int:
    return pytest.ExitCode.USAGE_ERROR if error.exit is ExitCode.USAGE else error.exit


def _row(item: LiveItem | FalsifyItem) -> RequirementRow:
    return requirement_row(item.entry, root=ROOT)


def _crashed(item: LiveItem | FalsifyItem, call: pytest.CallInfo[None]) -> Verdict:
    stated, session = item.requirement, item.config.stash[SESSION]
    reason = str(call.excinfo.getrepr(style="short")) if call.excinfo else "no verdict was given"
    verdict = Verdict(id=stated.id, level=stated.level, status=Status.UNDECIDED, reason=reason)
    run = session.current()
    return publish(run, verdict) if run is not None else verdict


def _id(item: pytest.Item) -> str | None:
    return item.entry.requirement.id if isinstance(item, RequirementItem) else None


def _rank(item: pytest.Item) -> tuple[int, str, int, str]:
    """Whatever is not ours first, in its own order; ours by release, then by how much they disturb, then by id."""
    if not isinstance(item, RequirementItem):
        return 0, "", 0, ""
    release = item.version if isinstance(item, FalsifyItem) else ""
    return 1, release, item.requirement.order.value, item.requirement.id


def _say(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")
