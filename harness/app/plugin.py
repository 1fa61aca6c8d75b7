"""The pytest plugin: options, what ends a session early, verdicts as they come, reports at the end.

``pytest suites`` registers it by ``conftest.py``; the command hands its own options to it (:class:`GivenOptions`).
Without ``--target``, ``--falsify`` and ``--chaos`` only the offline controls appear and no broker starts. What is
collected and in which order: :mod:`harness.app.contract_plugin`, :mod:`harness.app.chaos.chaos_plugin`.
"""

import sys
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

import pytest

from harness.app.clients.clients_plugin import ClientsPlugin
from harness.app.clients.clients_session import ClientsOptions, ClientsSession
from harness.app.contract_plugin import ContractPlugin
from harness.app.contract_session import ContractOptions, ContractSession
from harness.app.judging_item import JudgingItem, JudgingSession
from harness.app.option_table import declare
from harness.app.options import chaos_options, contract_options, print_progress
from harness.base.interrupts import is_interrupt, raise_interrupts
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.machine.download_cache import full_disk, room_needed

MARKERS = (
    "live: needs a running target",
    "chaos: live, one round of chaos",
    "falsify: live negative control, needs a target of its own",
    "control: offline, on doctored evidence",
)


SessionOptions: TypeAlias = ContractOptions | ChaosOptions | ClientsOptions


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """What the command line has parsed; a plugin that leaves it where ours finds it."""

    options: SessionOptions

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Called before the plugins are configured."""
        config.stash[GIVEN] = (self.options,)


GIVEN = pytest.StashKey[tuple[SessionOptions, ...]]()
SESSIONS = pytest.StashKey[list[JudgingSession]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of ``pytest suites``."""
    declare(
        "pytest", parser.getgroup("fencepost", "Fencepost: does this Kafka keep its transaction promises?").addoption
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    config.stash[SESSIONS] = []
    try:
        given = config.stash[GIVEN] if GIVEN in config.stash else _parsed(config)
        for options in given:
            _open(config, options)
    except UserError as error:
        pytest.exit(str(error), returncode=_code(error))  # before the session begins pytest prints it by itself


def _parsed(config: pytest.Config) -> tuple[SessionOptions, ...]:
    given = config.option
    contract = contract_options(given, target=given.target, falsify=given.falsify)
    return (contract, chaos_options(given, target=given.chaos)) if given.chaos else (contract,)


def _open(config: pytest.Config, options: SessionOptions) -> None:
    if isinstance(options, ContractOptions):
        contract = ContractSession(options=options)
        config.stash[SESSIONS].append(contract)
        config.pluginmanager.register(ContractPlugin(contract), "fencepost-contract")
        if not contract.has_target and not contract.falsifying:
            return
    elif isinstance(options, ClientsOptions):
        clients = ClientsSession(options=options)
        config.stash[SESSIONS].append(clients)
        config.pluginmanager.register(ClientsPlugin(clients), "fencepost-clients")
    else:
        from harness.app.chaos import chaos_plugin, chaos_session  # brings in Spark, which nothing else needs

        chaos = chaos_session.ChaosSession(options=options)
        config.stash[SESSIONS].append(chaos)
        config.pluginmanager.register(chaos_plugin.ChaosPlugin(chaos), "fencepost-chaos")
    if not isinstance(options, ContractOptions) or not options.plan:  # a plan leaves no folder
        _report_into(config, options.run.folder)
    raise_interrupts()


def _report_into(config: pytest.Config, folder: Path) -> None:
    """Point JUnit and Allure into the run folder, unless the caller names another place."""
    config.option.xmlpath = config.option.xmlpath or str(folder / "junit.xml")
    config.option.allure_report_dir = config.option.allure_report_dir or str(folder / "allure-results")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems() -> Generator[None, None, None]:
    """A selection that matches nothing ends the session with one sentence."""
    try:
        return (yield)
    except UserError as error:
        _give_up(error)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """An error outside the judged Kafka ends the session with one sentence and its own exit code."""
    try:
        with room_needed():
            return (yield)
    except UserError as error:
        _give_up(error)
    except Exception as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    finally:
        if isinstance(item, JudgingItem):
            item.label()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show each verdict as it is given."""
    report = yield
    if isinstance(item, JudgingItem) and call.when == "call":
        item.print_outcome(report, call.excinfo)
    return report


def pytest_internalerror(excinfo: pytest.ExceptionInfo[BaseException]) -> bool | None:
    """A full disk that another plugin meets first (JUnit's, Allure's) is one sentence, without its trace."""
    return True if full_disk(excinfo.value) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """End every cluster and write the reports, also after another plugin failed at its own; print where they are."""
    ours = session.config.stash[SESSIONS]
    try:
        with room_needed(), ExitStack() as closing:
            for each in ours:
                closing.callback(each.close)
            yield
    except UserError as error:
        _give_up(error)
    for each in ours:
        each.print_end(sys.stdout, session)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be collected is shown even where pytest's own terminal is off."""
    if report.failed:
        print_progress(str(report.longrepr))


def _give_up(error: UserError) -> NoReturn:
    """One sentence and the exit code; a wrong use is pytest's own usage error."""
    print_progress(f"fencepost: {error}")
    pytest.exit(str(error), returncode=_code(error))


def _code(error: UserError) -> int:
    return pytest.ExitCode.USAGE_ERROR if error.exit is ExitCode.USAGE else error.exit
