"""The gate's own errors are read at the end of a round, and make its judgement UNDECIDED unless it is VIOLATED."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness import run_chaos
from harness.base.clock import RunClock
from harness.base.seed import Seed
from harness.chaos.observe.drain import Drained
from harness.chaos.play.judgement_limits import SHOWN, limited
from harness.chaos.play.round_context import OUT_OF_REACH
from harness.clients.stdio.client_processes import RunningClients
from harness.cluster.topology import Topology
from harness.evidence.history.judgement import CheckResult, Judgement
from harness.evidence.json_codec import from_json, to_json
from harness.evidence.status import Status
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.frame_gate import GateOpener
from harness.faults.gate.gate import Gate, open_gate
from harness.report.chaos import conclude_session, publish_round
from harness.report.shared.junit import chaos_properties
from harness.wire.security.security import PLAINTEXT
from suites.selfcheck.fixtures import chaos_folders
from suites.selfcheck.fixtures.gate_pair import PATIENCE, FakeLinks

HELD = CheckResult(name="commits-are-there", statement="s", witnesses=5)
BROKEN = CheckResult(name="commits-are-there", statement="s", witnesses=5, counts={"lost-commit": 1})
NOWHERE = Topology(brokers=(), controller=None, lanes={"observer": {}})
DOUBT = "the gate had errors of its own: one request passed"


@contextmanager
def fault_target(opener: GateOpener | None) -> Iterator[FaultTarget]:
    """A target that has nothing but links."""
    cluster = cast(Any, SimpleNamespace(links=FakeLinks({}), topology=NOWHERE))
    target = FaultTarget(cluster=cluster, clock=RunClock(), client=cast(Any, None), topics={}, open_gate=opener)
    try:
        yield target
    finally:
        target.close()


def test_a_gate_that_was_never_opened_or_had_no_error_reports_none() -> None:
    with fault_target(open_gate) as target:
        assert target.gate_errors() == ()
        assert target.gate.errors() == target.gate_errors() == ()


def test_a_gate_that_ended_is_an_error() -> None:
    with fault_target(open_gate) as target:
        gate = target.gate
        assert isinstance(gate, Gate)
        gate.process.kill()
        gate.process.wait(PATIENCE)
        (error,) = target.gate_errors()
        assert "the gate is gone" in error


def test_without_an_opener_there_is_no_gate() -> None:
    with fault_target(None) as target, pytest.raises(Powerless, match="no gate"):
        assert target.gate


def test_errors_are_read_when_the_round_is_drained(monkeypatch: pytest.MonkeyPatch) -> None:
    drained = Drained(high_watermarks={("t", 0): 3}, notes=["broker 1 is away"])
    monkeypatch.setattr("harness.run_chaos.drain_partitions", lambda *_: drained)
    monkeypatch.setattr("harness.run_chaos.note_situations", lambda *_: None)
    monkeypatch.setattr("harness.run_chaos.why_no_states", lambda *_: "")
    reader = SimpleNamespace(finish=lambda *_, **__: (), facts=lambda: {})
    scenario = SimpleNamespace(passing_partitions=(), toxics=(), upgrades=False)
    with fault_target(open_gate) as target:
        context = SimpleNamespace(
            partitions=[], scenario=scenario, fault_target=target,
            transactional_ids=[], groups=[], reader=reader, real_name=str,
            history_journal=SimpleNamespace(write=lambda *_: None), facts={OUT_OF_REACH: {}},
            processes=RunningClients(), seed=Seed(7), struck_moments=SimpleNamespace(moments=()),
        )  # fmt: skip
        gate = cast(Gate, target.gate)
        gate.process.kill()
        gate.process.wait(PATIENCE)
        reading = SimpleNamespace(addresses={}, security=PLAINTEXT)
        environment = SimpleNamespace(reading=reading, keeps_producers=False, lasting_offers={})
        run_chaos.drain(cast(Any, environment), cast(Any, context))
    assert context.facts["drain_notes"] == ["broker 1 is away"]
    assert "the gate is gone" in context.facts["gate_errors"][0]


@pytest.mark.parametrize(
    ("check", "errors", "status"),
    [
        (HELD, [], Status.HOLDS),
        (HELD, ["one request passed"], Status.UNDECIDED),
        (BROKEN, ["one request passed"], Status.VIOLATED),
    ],
)
def test_errors_make_a_round_undecided_and_findings_win(check: CheckResult, errors: list[str], status: Status) -> None:
    judgement = limited(Judgement(checks=(check,)), {"facts": {"gate_errors": [*errors], "drain_notes": ["noted"]}})
    assert judgement.status is status
    assert judgement.notes == ("noted",)
    assert [found.undecided for found in judgement.checks[1:]] == [DOUBT] * len(errors)


@pytest.mark.parametrize("run", [{}, {"facts": None}, {"facts": {}}, {"facts": {"gate_errors": "none"}}])
def test_a_history_of_another_tool_has_no_gate_errors(run: dict[str, Any]) -> None:
    assert limited(Judgement(checks=(HELD,)), run) == Judgement(checks=(HELD,))


def test_many_errors_are_counted() -> None:
    errors = [f"error {number}" for number in range(SHOWN + 2)]
    judgement = limited(Judgement(checks=()), {"facts": {"gate_errors": [*errors]}})
    assert judgement.checks[0].undecided.endswith("error 4 (and 2 more)")


def test_terminal_page_and_junit_show_why_the_round_is_undecided(tmp_path: Path) -> None:
    folder = chaos_folders.clean(tmp_path / "001")
    run = {**json.loads((folder / "run.json").read_text()), "facts": {"gate_errors": ["one request passed"]}}
    judgement = limited(from_json(Judgement, (folder / "judgement.json").read_text()), run)
    (folder / "judgement.json").write_text(to_json(judgement))
    stream = io.StringIO()
    assert conclude_session(stream, tmp_path, [folder], publish_round(folder)) is False
    terminal = " ".join(stream.getvalue().split())
    assert "transfer-brokers-die, seed 8129: undecided" in terminal
    assert f"the-gate-worked: {DOUBT}" in terminal
    assert DOUBT in (folder / "index.html").read_text()
    assert ("undecided", f"the-gate-worked: {DOUBT}") in chaos_properties(judgement, run)


def test_many_notes_of_the_drain_are_counted() -> None:
    notes = [f"note {number}" for number in range(SHOWN + 2)]
    told = limited(Judgement(checks=()), {"facts": {"drain_notes": [*notes]}}).notes
    assert told == (*notes[:SHOWN], "2 more notes of what could not be read are in run.json (drain_notes)")
