"""Plans are played on an old Kafka: one writer with one held Produce is enough, and without the fault all holds."""

from dataclasses import replace
from pathlib import Path

from harness.app.chaos.shrink_command import open_search
from harness.app.cli import parser
from harness.base.json_value import Json
from harness.chaos.plan.plan_file import read_plan, write_plan
from harness.chaos.plan.round_plan import PlannedRole, RoundPlan
from harness.chaos.plan.scenario import PlannedFault
from harness.chaos.shrink.smaller_plans import with_roles
from suites.selfcheck.fixtures import chaos_folders
from toxics.frames import late_produce

# A record that comes before the markers of its transaction ends with it, and a busy machine takes its time for them.
EVERY_PRODUCE: dict[str, Json] = {
    "transactional_id": "every transactional id",
    "seed": 1,
    "every": 1,
    "after_ms": 2_000,
    "persistent": True,
    "hang_up": False,
}
WRITERS = ("writer-0", "writer-1")
PLAN = RoundPlan(
    scenario="late-produce",
    seed=7000,
    seconds=14,
    prober="wire-v1",
    roles=tuple(PlannedRole(name=name, client="wire-v1", at_ms=4_000, transactions=1) for name in WRITERS),
    faults=(PlannedFault(toxic=late_produce.TOXIC, at_ms=500, duration_ms=13_000, chosen=EVERY_PRODUCE),),
)
"""Each writer has a single transaction while requests are held."""
MOST_TRIES = 4
"""Of the one Produce that is held: its client sends it again within ``request_ms``, and each try is held."""


def test_one_writer_and_one_held_produce_are_red_and_without_the_fault_they_are_not(tmp_path: Path) -> None:
    red = chaos_folders.broken(tmp_path / "001-late-produce")
    write_plan(red / "plan.toml", PLAN)
    words = ["shrink", str(red), "--spark-master", "local[2]", "--report-dir", str(tmp_path / "run")]
    search, shrinking = open_search(parser().parse_args(words))
    try:
        assert search.shows(with_roles(PLAN, ["writer-1"]))
        assert not search.shows(replace(search.smallest, faults=()))
    finally:
        shrinking.session.close()
    assert shrinking.shown is not None
    assert shrinking.shown.anomalies.keys() == {"hanging-transaction", "stuck-lso"}
    assert [0 < window.struck <= MOST_TRIES for window in shrinking.shown.faults] == [True]
    assert shrinking.shown.run["transactions"] == {"writer-1": 1}
    assert [role.name for role in read_plan(shrinking.place).roles] == ["writer-1"]
