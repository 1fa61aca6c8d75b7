"""Controls that break a requirement alike share one run of it; others have their own."""

from pathlib import Path
from typing import cast

import pytest

from harness import run as flow
from harness.app.contract_session import ContractOptions, ContractSession
from harness.cluster.run_options import RunOptions
from harness.contract import Requirement, Status, Verdict
from harness.contract.refuters import Liar, LiveRefuter, Release, Setting
from harness.lab import Lab
from harness.run import Run
from suites.selfcheck.app.test_side_by_side import ANY, of

HANGS = Release(version="3.5.2", anomaly="hanging-transaction")
ACCEPTS = Release(version="3.5.2", anomaly="write-accepted")


@pytest.fixture(name="examined")
def _examined(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was run: the requirement's id, and how it was broken."""
    seen: list[tuple[str, str]] = []

    def examine(_run: Run, requirement: Requirement[Lab], *, refuter: LiveRefuter) -> Verdict:
        seen.append((requirement.id, type(refuter).__name__))
        return Verdict(id=requirement.id, level=requirement.level, status=Status.VIOLATED)

    monkeypatch.setattr(flow, "examine", examine)
    monkeypatch.setattr(ContractSession, "falsifier", lambda _session, _version: cast(Run, None))
    return seen


def session(folder: Path) -> ContractSession:
    run = RunOptions(target="", folder=folder, backend="process")
    return ContractSession(options=ContractOptions(run=run, falsify=True))


def test_anomalies_of_one_breakage_are_looked_for_in_one_run(tmp_path: Path, examined: list[tuple[str, str]]) -> None:
    ours = session(tmp_path)
    assert ours.refute(ANY, HANGS) is ours.refute(ANY, ACCEPTS)
    assert examined == [(ANY.id, "Release")]


def test_what_is_broken_otherwise_is_run_by_itself(tmp_path: Path, examined: list[tuple[str, str]]) -> None:
    ours = session(tmp_path)
    others: list[LiveRefuter] = [
        Release(version="3.6.2", anomaly=HANGS.anomaly),
        Setting(key="a", value="b", anomaly=HANGS.anomaly),
        Setting(key="a", value="c", anomaly=HANGS.anomaly),
        Liar(api="EndTxn", error=48, anomaly=HANGS.anomaly),
        Liar(api="EndTxn", error=48, skip=1, anomaly=HANGS.anomaly),
    ]
    for refuter in (HANGS, *others):
        ours.refute(ANY, refuter)
    ours.refute(of("OTHER"), HANGS)
    assert examined == [*((ANY.id, type(each).__name__) for each in (HANGS, *others)), (of("OTHER").id, "Release")]
