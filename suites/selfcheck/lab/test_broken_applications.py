"""An application whose program fails in the middle: the stimulus ends with one sentence, and nothing is left."""

from contextlib import closing
from pathlib import Path

import psutil
import pytest

from harness.base.clock import RunClock
from harness.base.unprepared import Unprepared
from harness.clients.stdio.adapter_options import AdapterOptions
from harness.clients.stdio.adapter_process import start_adapter
from harness.lab.clients import application as module
from harness.lab.clients.application import Application
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.powers.request_gate import RequestGate
from suites.selfcheck.clients.stdio.programs import SOUND, but, program

BEGIN = 'case "begin" | "subscribe": answer(call["id"], outcome="done")'
BAD = {
    "crashes": ("sys.exit(3)", "ended with exit code 3 before it answered begin"),
    "hangs": ("sleep(60)", "did not answer begin within"),
    "prints": ("print('hello there', flush=True)", "answered begin with 'hello there': it is not JSON"),
}


@pytest.fixture(name="clock")
def _clock() -> RunClock:
    return RunClock()


def application(folder: Path, clock: RunClock, instead: str) -> Application:
    """One whose program does this when it is told to begin."""
    return running(folder, clock, but(BEGIN, f'case "begin": {instead}'))


def running(folder: Path, clock: RunClock, text: str) -> Application:
    """One whose program is this text."""
    command = program(folder, text)
    options = AdapterOptions(bootstrap=["127.0.0.1:9"], client_id="app", block_ms=50, delivery_timeout_ms=50)
    return Application(
        name="app",
        adapter=start_adapter(command.command, name=command.name),
        options=options,
        coordinator=1,
        proxies={},
        request_gate=RequestGate(open_gate=None, clock=clock),
        notes=EvidenceBuilder(),
        now=clock.now,
        frames_so_far=tuple,
    )


@pytest.mark.parametrize("way", BAD)
def test_it_is_one_sentence_and_nothing_is_left(
    tmp_path: Path, clock: RunClock, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    instead, sentence = BAD[way]
    with closing(application(tmp_path, clock, instead)) as app:
        app.open()
        if way == "hangs":
            monkeypatch.setattr(module, "SLACK_SECONDS", 0.2)
        with pytest.raises(Unprepared) as failed:
            app.begin()
        assert sentence in str(failed.value)
        assert (app.running, [call.call for call in app.notes.calls]) == (False, [])
    assert str(tmp_path) not in " ".join(word for each in psutil.process_iter() for word in words_of(each))


def words_of(process: psutil.Process) -> list[str]:
    """Its command line; none of one that is gone."""
    try:
        return [] if process.status() == psutil.STATUS_ZOMBIE else process.cmdline()
    except psutil.Error:
        return []


def test_what_its_library_cannot_do_is_told_so(tmp_path: Path, clock: RunClock) -> None:
    with closing(application(tmp_path, clock, "sys.exit(3)")) as app:
        app.open()
        with pytest.raises(Unprepared, match=r"cannot flush: no"):
            app.flush()
    assert not app.running


def test_a_consumer_that_has_ended_is_not_polled_for_all_the_time(
    tmp_path: Path, clock: RunClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ENOUGH_REFUSALS", 2)
    poll = next(line.strip() for line in SOUND.splitlines() if '"poll"' in line)
    with closing(running(tmp_path, clock, but(poll, 'case "poll": refused(call["id"], "Crashed")'))) as app:
        app.open()
        started = clock.now()
        assert app.poll_all(1, within_ms=60_000) == []
        polls = [call for call in app.notes.calls if call.call == "poll"]
        assert (len(polls), app.reads) == (2, False)
        assert 2 * 500 <= clock.now() - started < 30_000
