"""The AppCDS archive of an adapter that runs on a JVM: half of what it does until a producer is initialised is loading
classes, and an archive has them parsed.

An archive fits one JVM and one class path, so it is written once the program is where it stays, by a program that finds
no broker. A JVM that can write none leaves none, and starts without it.
"""

import json
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from harness.base.json_value import Json
from harness.clients.stdio.adapter_options import AdapterOptions
from harness.machine.download_cache import create_once, fingerprint

TRAINING_SECONDS = 120.0
ARCHIVE = "classes.jsa"
TO_STDERR = ("-Xlog:disable", "-Xlog:all=warning:stderr")
"""A JVM whose archive does not fit says so, and standard output is the adapter's."""
NOBODY = AdapterOptions(bootstrap=["127.0.0.1:9"], client_id="classes", transactional_id="t", block_ms=500)
CALLS: Sequence[dict[str, Json]] = (
    {"call": "open", **NOBODY.arguments()},
    {"call": "init"},
    {"call": "subscribe", "partitions": [{"topic": "t", "partition": 0}]},
    {"call": "poll", "within_ms": 200},
    {"call": "close"},
)


def archived(java: Path, build: str, folder: Path, start: Sequence[str]) -> Sequence[str]:
    """Options with which a JVM starts the program in ``folder`` from its archive, which is written where it is missing.

    :param build: Identifies the JVM.
    :param start: The rest of the command: options, class path and class.
    """
    entry = folder.with_name(f"{folder.name}-{fingerprint([build])}")
    archive = create_once(entry, partial(_train, [str(java), *TO_STDERR], start)) / ARCHIVE
    return [*TO_STDERR, "-Xshare:auto", f"-XX:SharedArchiveFile={archive}"] if archive.is_file() else TO_STDERR


def _train(java: Sequence[str], start: Sequence[str], draft: Path) -> None:
    lines = "".join(json.dumps({"id": number, **call}) + "\n" for number, call in enumerate(CALLS, 1))
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [*java, f"-XX:ArchiveClassesAtExit={draft / ARCHIVE}", *start],
            input=lines,
            text=True,
            capture_output=True,
            check=False,
            timeout=TRAINING_SECONDS,
            start_new_session=True,
        )
