"""One round: a scenario under one seed for so long, and the folder that keeps it.

``run.json`` is written when the round begins and again when it has settled, whole each time, so that a round that is
killed can be judged by ``fencepost replay``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.base.json_value import Json
from harness.base.seed import Seed
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.plan.scenario import Scenario
from harness.evidence.history.history_journal import CHAOS_FORMAT
from harness.evidence.history.judgement import Judgement
from harness.evidence.history.timeline import Timeline, save_timeline
from harness.evidence.json_codec import to_json
from harness.evidence.run_folder import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Everything that a second run needs to be the same.

    :param seconds: Length of the storms and the quiet between them.
    :param command: The one command that runs it again.
    :param plan: What is played instead of what the seed draws.
    """

    target: str
    scenario: Scenario
    seed: Seed
    seconds: float
    folder: Path
    command: str
    plan: RoundPlan | None = None

    def begin(self, described: Mapping[str, Json]) -> None:
        """Make the folder and write what is run; :raises UserError: when the folder already holds a run."""
        RunFolder.create(self.folder, {**self.description(), **described})

    def add(self, facts: Mapping[str, Json]) -> None:
        """Put more into ``run.json``."""
        RunFolder(self.folder).add_to_run(facts)

    def description(self) -> dict[str, Json]:
        """What ``run.json`` holds before anything was run."""
        scenario = self.scenario
        return {
            "format": CHAOS_FORMAT,
            "kind": "chaos",
            "target": self.target,
            "scenario": scenario.name,
            "title": scenario.title,
            "workload": scenario.workload.name,
            "clients": list(scenario.clients),
            "clients_are_judged": scenario.clients_are_judged,
            "toxics": [toxic.name for toxic in scenario.toxics],
            "survivable": scenario.survivable,
            "seed": self.seed.value,
            "storm_seconds": self.seconds,
            "command": self.command,
            "fencepost": installed_version("fencepost"),
            "cluster_properties": dict(scenario.cluster.properties),
        }


def save_results(folder: Path, judgement: Judgement, timeline: Timeline) -> None:
    """Write the judgement and what the page draws beside the history."""
    write_atomically(folder / "judgement.json", to_json(judgement))
    save_timeline(folder, timeline)
