"""``fencepost trends FOLDER…``: the rounds of many sessions and releases as one table."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version as installed_version
from pathlib import Path

from harness.app.option_table import declare
from harness.base.atomic_write import write_atomically
from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.round_folders import rounds_below
from harness.report.chaos.round_results import read_round
from harness.report.trends.publish_trends import print_trends, publish_trends
from harness.report.trends.trend_rows import trend_row
from harness.report.trends.trends_view import trends_view

TRENDS = """\
Puts the rounds of chaos of many sessions and releases into one table: a night on several releases, a release over many
nights. Rounds are found in the folders at any depth; sessions are told by the folder that a round is in.

DIR/rounds.parquet has a row a round: conclusion, anomalies, transactions, time to recover and to settle, what each
fault was to each client, the lag of the last stable offset by phase, latencies. It is partitioned by release, scenario
and day, made anew each time, and read by any Spark: spark.read.parquet("DIR/rounds.parquet"). DIR/rounds.jsonl has the
same rows as JSON, DIR/index.html and the terminal what the rounds of each release and scenario come to. With
--spark-master DIR must be one that the cluster's executors read and write.

  fencepost trends reports/runs                  every round of chaos in there
  fencepost trends night/3.9.2 night/4.3.1 --into night/trends

exit codes: 0 the table was made, 2 it cannot be written, 16 a folder holds no round of chaos, or one that cannot be
read"""
TABLE, LINES = "rounds.parquet", "rounds.jsonl"


def declare_trends(command: argparse.ArgumentParser) -> None:
    """Its arguments, and what it runs."""
    command.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="holds rounds or sessions of chaos")
    command.add_argument(
        "--into", type=Path, default=Path("trends"), metavar="DIR", help="table and page (default: %(default)s)"
    )
    declare("trends", command.add_argument)


def write_trends(folders: Sequence[Path], into: Path, *, master: str, progress: Callable[[str], None]) -> Path:
    """Make the table and the page, and print what it comes to; the path of the page.

    :raises UserError: When a folder holds no round of chaos, one cannot be read, or the table cannot be written.
    """
    rows = [trend_row(read_round(round_)) for round_ in _rounds(folders)]
    lines, place = _write_lines(into.absolute(), rows), into.absolute() / TABLE
    # Brings in Spark, which reading needs not.
    from harness.spark.session.spark_session import open_session
    from harness.spark.trends.trend_table import come_to, write_table

    progress(f"{len(rows)} rounds; starting Spark on {master}")
    with open_session(name="fencepost-trends", master=master, progress=progress) as spark:
        trends = trends_view(come_to(write_table(spark.spark, lines, place)))
    page = publish_trends(trends, into, parquet=place, fencepost=installed_version("fencepost"))
    print_trends(sys.stdout, trends, page=page, parquet=place)
    return page


def _rounds(folders: Sequence[Path]) -> list[Path]:
    found: dict[Path, None] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UserError(f"{folder} is no folder", exit=ExitCode.EVIDENCE_UNREADABLE)
        below = rounds_below(folder.resolve())
        if not below:
            raise UserError(f"{folder} holds no round of chaos", exit=ExitCode.EVIDENCE_UNREADABLE)
        found |= dict.fromkeys(below)
    return list(found)


def _write_lines(into: Path, rows: Sequence[Mapping[str, Json]]) -> Path:
    try:
        into.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return write_atomically(into / LINES, text)
    except OSError as error:
        raise UserError(f"{into} cannot be made: {error.strerror}", exit=ExitCode.USAGE) from error
