"""The start-up cache: formatted storage and an AppCDS archive, made once for a set of jars and a JVM.

Formatted storage is two small files that the official tool takes half a second of JVM start to write; a copy of them
with another node id is the same. Storage that is wished otherwise (:class:`Format`) is an entry beside it. The archive
holds the classes that a node loads, parsed. It comes from one training run of a combined node, which loads the classes
of both roles. A JVM that cannot use an archive writes a line about it to its log and starts without it, so a miss costs
time and nothing else.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base import wait
from harness.cluster.distribution import KafkaFiles
from harness.cluster.nodes import readiness
from harness.cluster.nodes.jvm_command import Launch, class_path, system_properties
from harness.cluster.nodes.node_ports import QUORUM
from harness.cluster.nodes.node_properties import of_training, render
from harness.cluster.nodes.startup_error import not_ready
from harness.cluster.nodes.storage import META, STORAGE_FILES, Format, new_id, with_ids
from harness.cluster.process.hosts_file import training_hosts_file
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.machine import download_cache
from harness.machine.run_processes import RunProcesses
from harness.machine.toolchain import Java

LAYOUT = "1"  # of the entries below; a change of theirs changes it
ARCHIVE = "classes.jsa"
TRAINING_SECONDS = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCache:
    """A cache entry: class path, formatted storage, archive.

    :param formatted: The folder of storage that was formatted as wished; None for the release's own choice.
    """

    folder: Path
    formatted: Path | None = None

    def launch(self, files: KafkaFiles, java: Java, options: tuple[str, ...]) -> Launch:
        archive = self.folder / ARCHIVE
        return Launch(
            java=java,
            class_path=self.folder / "class-path",
            version=files.version,
            archive=archive if archive.is_file() else None,
            options=options,
        )

    def format(self, data: Path, *, cluster_id: str, node: int) -> None:
        """Format a node's storage: what ``kafka-storage.sh format`` would write, with this cluster's and node's ids."""
        data.mkdir(parents=True)
        for made in (self.formatted or self.folder / "storage").iterdir():
            data.joinpath(made.name).write_bytes(made.read_bytes())
        meta = data / META
        meta.write_text(with_ids(meta.read_text(), cluster_id, node))


def make_start_cache(
    files: KafkaFiles,
    java: Java,
    processes: RunProcesses,
    block: LoopbackBlock,
    logs: Path,
    progress: Callable[[str], None],
) -> StartCache:
    """The cache entry for these jars on this JVM, made on the given addresses where it is missing."""
    entry = _entry(files, java)
    if not entry.is_dir():
        progress(f"preparing Kafka {files.version} for quick starts (once; some 10 s)")
    return StartCache(
        folder=download_cache.create_once(entry, lambda draft: _train(draft, files, java, processes, block, logs))
    )


def format_otherwise(
    cache: StartCache,
    files: KafkaFiles,
    java: Java,
    processes: RunProcesses,
    block: LoopbackBlock,
    logs: Path,
    wish: Format,
) -> StartCache:
    """The same entry with storage that is formatted as wished, by the official tool where that is missing.

    :raises UserError: NOT_READY with the tool's words, when it refuses.
    """
    if not wish.arguments:
        return cache
    launch = cache.launch(files, java, ())

    def make(draft: Path) -> None:
        work = processes.folder / f"formatting-{files.version}"
        settings, log = _settings(work, block), logs / "preparing.log"
        _format(launch, processes, settings, log, *wish.arguments)
        _keep_storage(work / "data", draft / "storage")

    entry = cache.folder.with_name(f"{cache.folder.name}-{download_cache.fingerprint(wish.arguments)}")
    return replace(cache, formatted=download_cache.create_once(entry, make) / "storage")


def _entry(files: KafkaFiles, java: Java) -> Path:
    key = download_cache.fingerprint([LAYOUT, files.fingerprint(), java.build])
    return download_cache.cache_root() / "start-cache" / f"{files.version}-{key}"


def _train(
    draft: Path, files: KafkaFiles, java: Java, processes: RunProcesses, block: LoopbackBlock, logs: Path
) -> None:
    (draft / "class-path").write_text(class_path(files.jars()))
    launch = Launch(java=java, class_path=draft / "class-path", version=files.version)
    work = processes.folder / f"training-{files.version}"
    settings = _settings(work, block)
    log = logs / "preparing.log"
    _format(launch, processes, settings, log)
    _keep_storage(work / "data", draft / "storage")
    _run_once(launch, processes, block, settings, draft / ARCHIVE, log)


def _settings(work: Path, block: LoopbackBlock) -> Path:
    """The settings file of a combined node in a folder of its own."""
    work.mkdir()
    settings = work / "server.properties"
    listeners = replace(block, extra=()).listeners(1)
    settings.write_text(render(of_training(listeners, quorum=QUORUM, data=str(work / "data"))))
    return settings


def _format(launch: Launch, processes: RunProcesses, settings: Path, log: Path, *wish: str) -> None:
    command = launch.command("kafka.tools.StorageTool", "format", "-t", new_id(), "-c", settings, *wish)
    if processes.start(command, log=log).wait(TRAINING_SECONDS):
        raise not_ready("the storage tool failed", log)


def _keep_storage(data: Path, kept: Path) -> None:
    kept.mkdir()
    for made in data.iterdir():
        if made.name in STORAGE_FILES:
            kept.joinpath(made.name).write_bytes(made.read_bytes())


def _run_once(
    launch: Launch, processes: RunProcesses, block: LoopbackBlock, settings: Path, archive: Path, log: Path
) -> None:
    """Run the node up to its first transaction, then SIGTERM: a JVM that ends in order writes the archive.

    A JVM that cannot make one writes none, and nodes start without it.
    """
    hosts = settings.with_name("hosts")
    hosts.write_text(training_hosts_file(block))
    flags = [f"-XX:ArchiveClassesAtExit={archive}", *system_properties({"jdk.net.hosts.file": hosts})]
    node = processes.start(launch.command("kafka.Kafka", settings, flags=flags), log=log)
    try:
        wait.until(
            lambda: node.poll() is not None or readiness.first_transaction(block),
            what="the training run",
            timeout_seconds=TRAINING_SECONDS,
        )
        os.kill(node.pid, signal.SIGTERM)
        node.wait(TRAINING_SECONDS)
    except (wait.TimedOut, subprocess.TimeoutExpired) as late:
        raise not_ready("the training run did not end", log) from late
