"""An adapter's process as a client of chaos: what it answers, and what becomes of it when it is no adapter any more."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event
from typing import Any, cast

import psutil
import pytest

from harness.base import wait
from harness.base.clock import RunClock
from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.play.actor import Actor
from harness.clients.client import ClientOptions
from harness.clients.recording_client import RecordingClient
from harness.clients.stdio import stdio_client
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.clients.stdio.client_processes import RunningClients
from harness.clients.stdio.stdio_adapter import StdioAdapter
from harness.clients.stdio.stdio_client import StdioClient, open_arguments
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import Outcome, Value
from harness.faults.fault_target import FaultTarget, Powerless
from harness.machine.orphans import end_processes_of
from harness.machine.run_processes import open_run_processes
from harness.wire.security.security import PasswordLogin, Secret, Security
from suites.selfcheck.clients.stdio.programs import OBEDIENT, program, which
from toxics.clients import client_killed, client_paused

OPTIONS = ClientOptions(
    actor="teller-1", lane="victim", bootstrap={2: "h:2", 1: "h:1"}, transactional_id="t", request_ms=2_000, group="g"
)
VALUE = Value(txn=1, ordinal=0, size=1, payload="")
CRASH = "sys.stderr.write('out of luck'); os._exit(3)"


@pytest.fixture
def processes() -> Iterator[RunningClients]:
    """Of one round; none is left when the test is over."""
    running = RunningClients()
    yield running
    running.end_all()
    assert running.running() == []


def opened(folder: Path, text: str, processes: RunningClients) -> StdioClient:
    client = StdioAdapter(command=program(folder, text), processes=processes).open(OPTIONS)
    assert isinstance(client, StdioClient)
    return client


def pid_of(processes: RunningClients) -> int:
    (running,) = processes.running()
    return running.adapter.process.pid


def test_every_verb_of_a_sound_one(tmp_path: Path, processes: RunningClients) -> None:
    client = opened(tmp_path, OBEDIENT, processes)
    assert (client.kind, client.protocol, processes.running()) == ("./adapter", None, [])
    assert all(result.done for result in (client.init(), client.subscribe(["t"]), client.begin()))
    assert [client.produce("t", 0, VALUE).offset for _ in range(2)] == [0, 1]
    assert [record.offset for record in client.poll(10).records] == [7]
    sent = client.send_offsets("t", 0, 8)
    assert (sent.done, sent.offset, sent.producer_id) == (True, 8, None)
    assert client.commit().done
    assert client.abort().done
    pid = pid_of(processes)
    assert client.close().done
    assert client.close().done
    assert not psutil.pid_exists(pid)
    assert client.begin().outcome is Outcome.REFUSED
    assert processes.notes() == []


@pytest.mark.parametrize(
    ("does", "sentence"),
    [
        (CRASH, "ended with exit code 3 before it answered commit; out of luck"),
        ("sleep(60)", "did not answer commit within 2.2 s"),
        ("print('done, thanks', flush=True)", "answered commit with 'done, thanks': it is not JSON"),
        ("print('x' * (5 << 20), flush=True)", "answered commit with a line of more than 4194304 bytes"),
    ],
)
def test_one_that_fails_leaves_that_call_unsure_and_is_over(
    does: str, sentence: str, tmp_path: Path, processes: RunningClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    if does == "sleep(60)":  # the one whose time has to pass
        monkeypatch.setattr(stdio_client, "SLACK_SECONDS", 0.2)
    client = opened(tmp_path, which("commit", does), processes)
    assert client.init().done
    pid = pid_of(processes)
    failed = client.commit()
    assert (failed.outcome, failed.error) == (Outcome.UNSURE, None)
    assert not psutil.pid_exists(pid)
    for after in (client.abort(), client.begin(), client.init(), client.poll(10)):
        assert (after.outcome, after.tries) == (Outcome.REFUSED, 0)
        assert after.reason.startswith("nothing was sent: the adapter ./adapter ")
    assert [note for note in processes.notes() if sentence in note] == processes.notes()
    assert len(processes.notes()) == 1


def test_one_that_refuses_to_be_opened(tmp_path: Path, processes: RunningClients) -> None:
    error = '{"type": "unsupported", "message": "no SCRAM here"}'
    refusing = OBEDIENT.replace('outcome="done", library="fake", version="1"', f'outcome="refused", error={error}')
    assert opened(tmp_path, refusing, processes).init().outcome is Outcome.UNSURE
    assert processes.notes() == ["the adapter ./adapter was refused to open: unsupported: no SCRAM here"]


def test_one_that_cannot_be_started(processes: RunningClients) -> None:
    command = AdapterCommand(name="x", command=["/nowhere/at/all"])
    client = StdioAdapter(command=command, processes=processes).open(OPTIONS)
    assert client.init().outcome is Outcome.UNSURE
    assert client.close().done
    assert processes.notes() == ["the adapter x cannot be started: No such file or directory"]


def test_the_sentence_of_a_client_is_noted_once(tmp_path: Path, processes: RunningClients) -> None:
    for _ in range(3):
        opened(tmp_path, which("init", CRASH), processes).init()
    (note,) = processes.notes()
    assert note.endswith("before it answered init; out of luck (and failed 2 more times)")


def test_what_close_does_not_end_is_ended(
    tmp_path: Path, processes: RunningClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio_client, "CLOSE_SECONDS", 0.2)
    client = opened(tmp_path, which("close", "sleep(60)"), processes)
    client.init()
    pid = pid_of(processes)
    assert client.close().done
    assert not psutil.pid_exists(pid)


def test_what_is_left_of_a_round_is_ended(tmp_path: Path, processes: RunningClients) -> None:
    client = opened(tmp_path, OBEDIENT, processes)
    client.init()
    process = psutil.Process(pid_of(processes))
    processes.end_all()
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    assert client.close().done
    assert processes.notes() == []


def test_one_that_is_paused_ends_also_where_fencepost_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with ExitStack() as ends:
        run = open_run_processes()
        ends.callback(run.close)
        clients = RunningClients(record=run.record)
        ends.callback(clients.end_all)
        client = opened(tmp_path, OBEDIENT, clients)
        client.init()
        (running,) = clients.running()
        assert running.pause()
        assert end_processes_of(run.folder) == [running.adapter.process.pid]
        assert not running.resume()
        client.close()


def test_what_it_is_opened_with() -> None:
    given = open_arguments(OPTIONS)
    assert (given["bootstrap"], given["client_id"], given["group"]) == ("h:1,h:2", "teller-1", "g")
    assert given["request_timeout_ms"] == given["delivery_timeout_ms"] == given["block_ms"] == 2_000
    assert given["properties_file"] is None
    assert given["looks_up_positions"] is False
    assert open_arguments(OPTIONS, looks_up_positions=True)["looks_up_positions"] is True
    login = PasswordLogin(mechanism="PLAIN", username="u", password=Secret("p"))
    secured = ClientOptions(actor="a", lane="victim", bootstrap={}, security=Security(sasl=login, file="/c.properties"))
    assert open_arguments(secured)["properties_file"] == "/c.properties"


def target(clients: RunningClients | None) -> FaultTarget:
    nothing = cast(Any, None)
    return FaultTarget(cluster=nothing, clock=RunClock(), client=nothing, topics={}, clients=clients)


def test_one_that_is_killed_is_counted_and_its_end_is_no_note(tmp_path: Path, processes: RunningClients) -> None:
    client = opened(tmp_path, OBEDIENT, processes)
    client.init()
    with client_killed.TOXIC.strike(target(processes), {"clients": 2, "which": 7}) as strikes:
        assert (strikes.struck, strikes.where) == (1, "teller-1")
        assert processes.running() == []
        assert client.commit().outcome is Outcome.UNSURE
    assert processes.notes() == []


def test_one_that_is_paused_goes_on_afterwards(tmp_path: Path, processes: RunningClients) -> None:
    client = opened(tmp_path, OBEDIENT, processes)
    client.init()
    process = psutil.Process(pid_of(processes))
    with client_paused.TOXIC.strike(target(processes), {"clients": 1, "which": 7}) as strikes:
        assert process.status() == psutil.STATUS_STOPPED
        assert strikes.where == "teller-1"
    assert strikes.struck == 1
    assert client.commit().done


def test_one_that_ended_while_it_was_paused_does_not_count(tmp_path: Path, processes: RunningClients) -> None:
    opened(tmp_path, OBEDIENT, processes).init()
    with client_paused.TOXIC.strike(target(processes), {"clients": 1, "which": 7}) as strikes:
        processes.end_all()
    assert strikes.struck == 0


@pytest.mark.parametrize("toxic", [client_killed.TOXIC, client_paused.TOXIC], ids=lambda toxic: toxic.name)
def test_where_no_client_is_a_process_there_is_no_power(toxic: Any) -> None:
    with pytest.raises(Powerless, match="no client is a process"), toxic.strike(target(None), {}):
        pass


def test_which_clients_are_struck_follows_from_the_draw(tmp_path: Path, processes: RunningClients) -> None:
    made = program(tmp_path, OBEDIENT)
    for name in "abcde":
        options = ClientOptions(actor=name, lane="victim", bootstrap={1: "h:1"}, transactional_id=name)
        StdioAdapter(command=made, processes=processes).open(options).init()
    drawn = client_killed.TOXIC.draw(cast(Any, None), random.Random(3))
    with client_paused.TOXIC.strike(target(processes), drawn) as first:
        pass
    with client_paused.TOXIC.strike(target(processes), drawn) as second:
        pass
    assert first.where == second.where != ""
    assert first.struck == drawn["clients"]


def test_a_successor_takes_over_from_one_that_crashed(tmp_path: Path, processes: RunningClients) -> None:
    adapter = StdioAdapter(
        command=program(tmp_path, which("commit", f"({CRASH.replace(';', ',')})")), processes=processes
    )
    clock = RunClock()
    with closing(HistoryJournal(tmp_path / "history")) as journal:

        def recording(name: str) -> RecordingClient:
            return RecordingClient(
                client=adapter.open(OPTIONS), actor=name, transactional_id="t", clock=clock, history_journal=journal
            )

        actor = Actor(role="p", index=1, open_client=recording, topics={"t": "t"}, stop=Event())
        assert not actor.transact([RecordToWrite(topic="t", partition=0)])
        assert not actor.transact([RecordToWrite(topic="t", partition=0)])
        assert (actor.client.actor, actor.committed) == ("p.3", 0)
        actor.begin(1)
        for running in processes.running():
            running.kill()
        wait.until(lambda: not processes.running(), what="its end", timeout_seconds=10)
        assert not actor.begin(1)
        assert actor.client.actor == "p.4"
        actor.close()
