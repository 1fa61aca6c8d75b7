"""Steps 8 and 9 on a chaos folder, of ours or of another tool: judge its history, publish its pages. Offline."""

import sys
from collections.abc import Callable
from pathlib import Path

from harness.chaos.plan.round_folders import rounds_of
from harness.evidence.status import Status
from harness.report.chaos import conclude_session, publish_session, round_line
from harness.run_chaos import judge, publish
from harness.spark.session.spark_session import open_session
from harness.spark.session.spark_settings import Build


def replay(folder: Path, *, master: str, progress: Callable[[str], None]) -> bool:
    """Judge every round of the folder with today's checks and tell it; whether all of them hold.

    :raises Trouble: When a history cannot be read, or Spark cannot be had.
    """
    folder = folder.absolute()
    rounds, judged = rounds_of(folder), []
    build = Build.fit_for(max(map(_size, rounds)))
    progress(f"starting Spark on {master}")
    with open_session(name="fencepost-replay", master=master, progress=progress, build=build) as spark:
        for number, place in enumerate(rounds, start=1):
            judged.append(judge(spark, place))
            page = publish(place)
            round_line(sys.stdout, place, number=number, of=len(rounds))
    if folder not in rounds:
        page = publish_session(folder, rounds)
    conclude_session(sys.stdout, folder, rounds, page)
    return all(judgement.status is Status.HOLDS for judgement in judged)


def _size(round_: Path) -> int:
    """Bytes of its history."""
    return sum(file.stat().st_size for file in (round_ / "history").rglob("*") if file.is_file())
