"""The anomaly ``unavailable-after-heal``: does not serve again after the faults are healed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.base.kafka_error import KafkaError
from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome, Phase

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def no_probe_can_commit(s: Story) -> Sequence[str]:
    for tried in ("probe-1", "probe-1.2"):
        s.operation("init", tried, outcome=Outcome.UNSURE, error=None, reason="no answer")
    s.add(Phase(name="settle", started=1, ended=2))
    s.end()
    return ["unavailable-after-heal"]


def a_probe_commits_in_its_second_try(s: Story) -> Sequence[str]:
    s.operation("init", "probe-1", outcome=Outcome.UNSURE, error=None)
    s.init("probe-1.2")
    s.whole(1, actor="probe-1.2")
    s.end()
    return []


def probe_is_not_committed(e: HistoryEditor) -> bool:
    """The probe's commit was never answered."""
    commits = [one for one in e.history.operations if one.actor.startswith("probe-") and one.verb == "commit"]
    failed = e.rng.choice(commits)
    unsure = replace(
        failed,
        outcome=Outcome.UNSURE,
        error=e.rng.choice((None, KafkaError.REQUEST_TIMED_OUT)),
        reason="no answer came",
    )
    e.swap(e.history.operations, failed, unsure)
    return True


def probe_is_refused(e: HistoryEditor) -> bool:
    """No coordinator would have the probe: its init was refused, and it wrote nothing."""
    mine = [one for one in e.history.operations if one.actor.startswith("probe-")]
    (init,) = (one for one in mine if one.verb == "init")
    error = e.rng.choice(
        (KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.NOT_COORDINATOR)
    )
    e.history.operations = [one for one in e.history.operations if one not in mine]
    e.history.operations.append(
        replace(init, outcome=Outcome.REFUSED, error=error, producer_id=None, epoch=None, reason="no")
    )
    wrote = {one.txn for one in mine if one.txn is not None}
    gone = [record for segment in e.segments() if segment.txn in wrote for record in segment.records]
    e.history.log = [record for record in e.history.log if record not in gone]
    e.history.read_again()
    return True


ANOMALY = Anomaly(
    name="unavailable-after-heal",
    order=220,
    definition=(
        "after heal, a probe's transaction could not be brought to its end; or brokers refused for 5 s to tell "
        "what they keep, with errors that ask to try again, or at once with UNKNOWN_SERVER_ERROR (``facts.unanswered``)"
    ),
    phrase="does not serve again after the faults are healed",
    stories=(no_probe_can_commit, a_probe_commits_in_its_second_try),
    plants=(Plant(change=probe_is_not_committed), Plant(change=probe_is_refused)),
)
