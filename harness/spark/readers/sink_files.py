"""What Spark's readers delivered, file by file.

A reader's Parquet sink keeps a log of its own of the files that each micro-batch committed (``_spark_metadata``), which
makes delivery exactly once; it is honoured here as any Spark application would, so that a file of a batch that was
killed counts for nothing and a batch that was counted twice would show.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from harness.base.user_error import ExitCode, UserError

READERS = "spark"
"""The folder of a round in which each reader has its own."""
DELIVERED = "delivered"
"""A reader's sink, in its folder."""
LOG = "_spark_metadata"
LISTED = re.compile(r"\d+(\.compact)?")


def delivered_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of every reader of the round in ``folder`` that count, each with the reader's name, its folder's."""
    for log in sorted((folder / READERS).glob(f"*/{DELIVERED}/{LOG}")):
        for path in committed_files(log.parent):
            yield log.parents[1].name, path


def committed_files(sink: Path) -> Sequence[Path]:
    """The sink's files that count, by its log: the newest compacted list and what came after it.

    The log has the paths of the machine that wrote it; a folder may have been moved since, so their last part is taken.

    :raises UserError: EVIDENCE_UNREADABLE, when one of them is gone: a smaller sink would accuse the broker.
    """
    logs = {int(path.stem): path for path in sorted((sink / LOG).iterdir()) if LISTED.fullmatch(path.name)}
    newest = max((number for number, path in logs.items() if path.suffix), default=0)
    lines = (line for number in sorted(logs) if number >= newest for line in logs[number].read_text().splitlines()[1:])
    listed = {sink / unquote(Path(entry["path"]).name): entry["action"] for entry in map(json.loads, lines)}
    files = [path for path, action in listed.items() if action != "delete"]
    if lost := [path for path in files if not path.is_file()]:
        raise UserError(f"{lost[0]} is gone, and Spark's sink says that it counts", exit=ExitCode.EVIDENCE_UNREADABLE)
    return files
