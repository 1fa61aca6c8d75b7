"""The process backend without a Kafka: orphans, watchdog, cache entries, addresses, settings and JVM options."""

import errno
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from harness.base import wait
from harness.base.addresses import Address
from harness.base.paths import ROOT
from harness.base.user_error import ExitCode, UserError
from harness.cluster.cluster import ClusterOptions
from harness.cluster.docker.docker_backend import DOCKER
from harness.cluster.nodes import jvm_command, node_ports, storage
from harness.cluster.nodes.node_properties import name, of_node, render, shared
from harness.cluster.nodes.startup_error import not_ready
from harness.cluster.process import loopback_addresses
from harness.cluster.process.hosts_file import hosts_file
from harness.cluster.target import parse_target
from harness.cluster.topology import BROKERS, CONTROLLER, MOST_BROKERS, ExtraListener, brokers_of, owned_topology
from harness.machine import download_cache
from harness.machine.orphans import end_orphans
from harness.machine.run_processes import open_run_processes
from suites.selfcheck.fixtures.user_errors import raises_user_error

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]
SECURE = ExtraListener(name="SECURE", protocol="SSL", properties={"ssl.keystore.type": "PEM"})
GONE = {"pid": 2**22 + 1, "started": 0.0}  # no Linux process has this id


def killed_run(runs: Path, *children: dict[str, float]) -> Path:
    """What a killed run leaves: its own record, and those of its children."""
    folder = runs / "killed"
    folder.mkdir(parents=True)
    (folder / "owner.json").write_text(json.dumps(GONE))
    (folder / "children.jsonl").write_text("".join(json.dumps(child) + "\n" for child in children))
    return folder


def record(pid: int, shift: float = 0.0) -> dict[str, float]:
    """A process as a run records it, or as if another had had its id before."""
    return {"pid": pid, "started": psutil.Process(pid).create_time() + shift}


Start = Callable[[Path], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes that do nothing, each in a folder; ends them after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start_in(folder: Path) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen(SLEEPER, cwd=folder))
        return started[-1]

    yield start_in
    for process in started:
        process.kill()
        process.wait()


def test_exactly_the_recorded_orphans_are_ended(start: Start, tmp_path: Path) -> None:
    orphan, stranger = start(ROOT), start(ROOT)
    folder = killed_run(tmp_path, record(orphan.pid), record(stranger.pid, shift=-3600), GONE)
    assert end_orphans(tmp_path) == [orphan.pid]
    assert orphan.poll() is not None
    assert stranger.poll() is None, "a process that came into a recorded id was ended"
    assert not folder.exists()


def test_a_torn_record_does_not_hide_the_others(start: Start, tmp_path: Path) -> None:
    orphan = start(ROOT)
    folder = killed_run(tmp_path, record(orphan.pid))
    with (folder / "children.jsonl").open("a") as records:
        records.write('{"pid": 12')
    assert end_orphans(tmp_path) == [orphan.pid]


def test_an_orphan_whose_record_was_never_written_is_known_by_its_folder(start: Start, tmp_path: Path) -> None:
    folder = killed_run(tmp_path)
    orphan, stranger = start(folder), start(tmp_path)
    assert end_orphans(tmp_path) == [orphan.pid]
    assert stranger.poll() is None
    assert not folder.exists()


def test_a_run_that_lives_keeps_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    processes = open_run_processes()
    try:
        process = processes.start(SLEEPER, log=tmp_path / "log")
        assert end_orphans(download_cache.cache_root() / "runs") == []
        assert process.poll() is None
    finally:
        processes.close()
    assert process.poll() == -9
    assert processes.watchdog.poll() is not None
    assert not processes.folder.exists()
    processes.close()


def test_after_its_end_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    processes = open_run_processes()
    processes.close()
    with pytest.raises(RuntimeError, match="was closed"):
        processes.start(SLEEPER, log=tmp_path / "log")
    assert processes.started == []


KILLED_RUN = """
import os, signal, subprocess, sys
from pathlib import Path
from harness.machine.run_processes import open_run_processes
processes = open_run_processes([sys.argv[1]])
sleeper = [sys.executable, "-c", "import signal; signal.pause()"]
recorded = processes.start(sleeper, log=Path(os.devnull))
unrecorded = subprocess.Popen(sleeper, cwd=processes.folder)
print(recorded.pid, unrecorded.pid, processes.watchdog.pid, processes.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def runs(pid: int) -> bool:
    """Whether a process has this id; a zombie does not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


WATCHDOG_SECONDS = 10
"""It takes one on a calm machine, most of it for Python to start; a busy one must not turn the test red."""


def test_the_watchdog_ends_what_a_run_killed_with_9_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "run_afterwards.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_RUN, "run_afterwards"], stdout=subprocess.PIPE, text=True, check=False
    )
    *pids, folder = killed.stdout.split()
    wait.until(
        lambda: not any(runs(int(pid)) for pid in pids), what="the end of everything", timeout_seconds=WATCHDOG_SECONDS
    )
    assert killed.returncode == -9
    assert not Path(folder).exists()
    assert (tmp_path / "ran").exists()


def test_a_cache_entry_is_whole_or_not_there(tmp_path: Path) -> None:
    def half(draft: Path) -> None:
        (draft / "first").touch()
        raise ValueError("the download broke off")

    with pytest.raises(ValueError, match="broke off"):
        download_cache.create_once(tmp_path / "entry", half)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []
    made = download_cache.create_once(tmp_path / "entry", lambda draft: (draft / "first").touch())
    assert download_cache.create_once(made, half) == tmp_path / "entry"


def test_what_a_killed_download_left_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / ".entry.torn").mkdir()
    download_cache.create_once(tmp_path / "entry", lambda draft: (draft / "first").touch())
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["entry"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_one_sentence(code: int) -> None:
    with raises_user_error(ExitCode.NO_ROOM, r"^the disk is full at /somewhere; "), download_cache.room_needed():
        raise OSError(code, "No space left on device", "/somewhere")


def test_another_error_of_the_disk_is_not_taken_for_a_full_one() -> None:
    with pytest.raises(PermissionError), download_cache.room_needed():
        raise PermissionError(errno.EACCES, "Permission denied")


def test_a_node_that_did_not_start_is_reported_with_its_last_log_lines(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text("\n".join(f"line {i}" for i in range(100)))
    error = not_ready("broker-1 ended", log)
    assert error.exit is ExitCode.NOT_READY
    assert "line 99" in str(error)
    assert "line 80" not in str(error)


def test_a_node_that_met_a_full_disk_is_reported_as_such(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text("java.io.IOException: No space left on device\n" + "more\n" * 100)
    assert not_ready("broker-1 ended", log).exit is ExitCode.NO_ROOM


def test_two_clusters_never_share_a_block() -> None:
    first, second = loopback_addresses.claim_block(), loopback_addresses.claim_block()
    try:
        assert first.number != second.number
        assert not set(first.all()) & set(second.all())
    finally:
        first.guard.close()
        second.guard.close()


def test_every_listener_has_an_address_of_its_own() -> None:
    block = loopback_addresses.claim_block()
    block.guard.close()
    listeners = list(block.all())
    assert len(set(listeners)) == len(listeners)


def test_a_taken_address_sends_us_to_the_next_block() -> None:
    first = loopback_addresses.claim_block()
    first.guard.close()
    observer = first.lane("observer", 2)
    with socket.create_server((observer.host, observer.port)):
        second = loopback_addresses.claim_block()
        second.guard.close()
    assert second.number != first.number


def test_a_port_that_is_taken_in_every_block_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback_addresses, "BLOCKS", [250])
    with (
        socket.create_server(("127.0.250.11", node_ports.OBSERVER)),
        pytest.raises(UserError, match=rf"something listens on port {node_ports.OBSERVER} of every address") as error,
    ):
        loopback_addresses.claim_block()
    assert error.value.exit is ExitCode.ADDRESS_IN_USE


def test_a_broker_reaches_every_other_node_only_through_proxies() -> None:
    block = loopback_addresses.claim_block()
    block.guard.close()
    for source in BROKERS:
        lines = (line.split() for line in hosts_file(block, source).splitlines())
        known = {name: host for host, name in lines}
        for target in (*BROKERS, CONTROLLER):
            direct = known[name(target)] == block.link(target, target).host
            assert direct == (source == target)


@pytest.mark.parametrize("count", [1, 2, 5, MOST_BROKERS])
def test_every_broker_of_any_number_has_addresses_of_its_own(count: int) -> None:
    block = loopback_addresses.claim_block(
        brokers_of(count), (SECURE, ExtraListener(name="OPEN", protocol="PLAINTEXT"))
    )
    block.guard.close()
    addresses = list(block.all())
    assert len(set(addresses)) == len(addresses)
    topology = owned_topology(block.lane, block.brokers, block.extra_listeners)
    assert len(topology.brokers) == count
    assert CONTROLLER not in topology.brokers
    assert len(topology.links) == count * (count + 1)
    assert {topology.listeners[name][broker] for name in ("SECURE", "OPEN") for broker in block.brokers} <= set(
        addresses
    )


@pytest.mark.parametrize(("count", "copies", "in_sync"), [(1, "1", "1"), (2, "2", "2"), (3, "3", "2"), (5, "3", "2")])
def test_internal_topics_have_as_many_copies_as_there_are_brokers(count: int, copies: str, in_sync: str) -> None:
    block = loopback_addresses.claim_block(brokers_of(count))
    block.guard.close()
    settings = of_node(1, block, quorum=node_ports.QUORUM, data="/data", extra={})
    assert settings["transaction.state.log.replication.factor"] == copies
    assert settings["offsets.topic.replication.factor"] == copies
    assert settings["transaction.state.log.min.isr"] == in_sync


def test_a_broker_has_a_listener_beside_the_lanes() -> None:
    block = loopback_addresses.claim_block(extra=(SECURE,))
    block.guard.close()
    settings = of_node(2, block, quorum=node_ports.QUORUM, data="/data", extra={})
    address = block.extra_listeners["SECURE"][2]
    assert f"SECURE://{address}" in settings["listeners"].split(",")
    assert f"SECURE://{address}" in settings["advertised.listeners"].split(",")
    assert settings["listener.security.protocol.map"].split(",")[-1] == "SECURE:SSL"
    assert settings["ssl.keystore.type"] == "PEM"


def test_a_listener_can_tell_clients_another_port_than_its_own() -> None:
    mapped = ExtraListener(name="MAPPED", protocol="PLAINTEXT", advertised_port=9)
    block = loopback_addresses.claim_block(extra=(mapped,))
    block.guard.close()
    settings = of_node(2, block, quorum=node_ports.QUORUM, data="/data", extra={})
    address = block.extra_listeners["MAPPED"][2]
    assert f"MAPPED://{address}" in settings["listeners"].split(",")
    assert f"MAPPED://{address.host}:9" in settings["advertised.listeners"].split(",")


def test_containers_are_three_brokers_or_one_sentence(tmp_path: Path) -> None:
    for options in (ClusterOptions(brokers=5), ClusterOptions(listeners=(SECURE,))):
        with raises_user_error(ExitCode.USAGE, "--backend process"):
            DOCKER.opener(parse_target("kafka:4.3.1"), options, tmp_path, print)


def test_the_users_properties_win_over_ours() -> None:
    block = loopback_addresses.claim_block()
    block.guard.close()
    assert shared()["auto.create.topics.enable"] == "false"
    extra = {"auto.create.topics.enable": "true", "transaction.max.timeout.ms": "1000"}
    settings = of_node(1, block, quorum=node_ports.QUORUM, data="/data", extra=extra)
    assert settings["auto.create.topics.enable"] == "true"
    assert settings["transaction.max.timeout.ms"] == "1000"
    assert settings["transaction.state.log.min.isr"] == "2"


def test_a_backslash_in_a_property_reaches_the_broker() -> None:
    assert render({"a": r"x\y"}) == "a=x\\\\y\n"


@pytest.mark.parametrize(
    ("chosen", "aside"),
    [
        ((), set()),
        (("-Dkey=value", "-javaagent:/x.jar"), set()),
        (("-XX:+UseG1GC",), {jvm_command.COLLECTOR}),
        (("-XX:+UseZGC", "-Xms2g"), {jvm_command.COLLECTOR, jvm_command.HEAP}),
        (("-Xmx1g",), {jvm_command.HEAP}),
        (("-XX:MaxRAMPercentage=50",), {jvm_command.HEAP}),
        (("-XX:InitialHeapSize=1g",), {jvm_command.HEAP}),
        (("-Xshare:off",), {"-XX:SharedArchiveFile=/classes.jsa"}),
    ],
)
def test_jvm_flags_of_the_user_replace_ours(chosen: tuple[str, ...], aside: set[str]) -> None:
    every = set(jvm_command.quick_start_flags((), Path("/classes.jsa")))
    assert every - set(jvm_command.quick_start_flags(chosen, Path("/classes.jsa"))) == aside


def test_an_id_never_looks_like_an_option() -> None:
    drawn = {storage.new_id() for _ in range(500)}
    assert len(drawn) == 500
    assert not any(one.startswith("-") for one in drawn)


def test_an_address_is_written_host_and_port() -> None:
    assert str(Address("127.0.77.11", 23097)) == "127.0.77.11:23097"


def test_a_nearly_full_disk_is_refused_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_cache, "ROOM_MB", 2**40)
    with raises_user_error(ExitCode.NO_ROOM, "a cluster needs"):
        download_cache.require_room(tmp_path)
