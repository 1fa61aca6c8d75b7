"""One round: a scenario under one seed for so long, and the folder that keeps it.

``run.json`` is written when the round begins and again when it has settled, whole each time, so that a round that is
killed can be judged by ``fencepost replay``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version as installed_version
from pathlib import Path

from harness.base.atomic_write import write_whole
from harness.base.json_value import Json
from harness.base.seed import Seed
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.scenario import Scenario
from harness.evidence.history_writer import CHAOS_FORMAT
from harness.evidence.json_codec import to_json
from harness.evidence.judgement import Judgement
from harness.evidence.timeline import Timeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Everything that a second run needs to be the same.

    :param seconds: Length of the storms and the quiet between them.
    :param again: The one command that runs it again.
    """

    target: str
    scenario: Scenario
    seed: Seed
    seconds: float
    folder: Path
    again: str

    def begin(self, described: Mapping[str, Json]) -> None:
        """Make the folder and say what is run; :raises Trouble: when the place is taken."""
        if (self.folder / "run.json").exists():
            raise UserError(f"{self.folder} already holds a run; choose another --report-dir", exit=ExitCode.USAGE)
        self.folder.mkdir(parents=True, exist_ok=True)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        write_whole(self.folder / "run.json", json.dumps({**self.said(), **described, "started": started}, indent=1))

    def add(self, facts: Mapping[str, Json]) -> None:
        """Put more into ``run.json``."""
        path = self.folder / "run.json"
        write_whole(path, json.dumps({**json.loads(path.read_text(encoding="utf-8")), **facts}, indent=1))

    def said(self) -> dict[str, Json]:
        """What ``run.json`` says before anything was run."""
        scenario = self.scenario
        return {
            "format": CHAOS_FORMAT,
            "kind": "chaos",
            "target": self.target,
            "scenario": scenario.name,
            "title": scenario.title,
            "workload": scenario.workload.name,
            "clients": list(scenario.clients),
            "toxics": [toxic.name for toxic in scenario.toxics],
            "survivable": scenario.survivable,
            "seed": self.seed.value,
            "storm_seconds": self.seconds,
            "command": self.again,
            "again": self.again,
            "fencepost": installed_version("fencepost"),
        }


def keep(folder: Path, judgement: Judgement, timeline: Timeline) -> None:
    """What the judge said, beside the history."""
    write_whole(folder / "judgement.json", to_json(judgement))
    write_whole(folder / "timeline.json", to_json(timeline))
