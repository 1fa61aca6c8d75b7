"""The judge hears a story of each anomaly and names it, and hears what only looks like one and names nothing.

All stories are judged together, as one history of many topics; each is told its own findings by its topic, its
transactions or its actors.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.evidence.anomalies import ANOMALIES
from harness.evidence.judgement import HistoryFinding, Judgement
from harness.evidence.status import Status
from harness.judge import judge
from harness.judge.all_checks import CHECKS
from harness.spark.session.spark_session import SparkHandle, open_session
from suites.selfcheck.fixtures.stories import anomaly_cases_fencing, anomaly_cases_reads, anomaly_cases_writes
from suites.selfcheck.fixtures.stories.anomaly_cases_reads import a_reader_lacks_a_transaction
from suites.selfcheck.fixtures.stories.story import Story, Teller, history_of

STORIES = (*anomaly_cases_writes.STORIES, *anomaly_cases_fencing.STORIES, *anomaly_cases_reads.STORIES)


@pytest.fixture(scope="module")
def session() -> Iterator[SparkHandle]:
    """One JVM for this file."""
    with open_session(name="stories") as opened:
        yield opened


@pytest.fixture(scope="module")
def told() -> Mapping[Teller, tuple[Story, frozenset[str]]]:
    """Every story, told, with what is to be named."""
    stories = {}
    for number, tell in enumerate(STORIES, start=1):
        story = Story(name=tell.__name__, number=number)
        stories[tell] = (story, frozenset(tell(story)))
    return stories


@pytest.fixture(scope="module")
def judgement(
    session: SparkHandle,
    told: Mapping[Teller, tuple[Story, frozenset[str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Judgement:
    """The judgement of all stories together."""
    stories = [story for story, _ in told.values()]
    return judge(history_of(session.spark, stories, tmp_path_factory.mktemp("told")), shown=1_000)


def findings(judgement: Judgement, number: int) -> list[HistoryFinding]:
    """What was found in one story."""
    return [one for check in judgement.checks for one in check.findings if belongs(one) == number]


def belongs(one: HistoryFinding) -> int:
    """The number of the story that a finding is of."""
    if one.topic is not None:
        return int(one.topic.rpartition("-")[2])
    if one.operations:
        return one.operations[0] // 1_000
    assert one.producer_id is not None
    return one.producer_id // 10


@pytest.mark.parametrize("tell", STORIES, ids=lambda tell: tell.__name__)
def test_the_story_is_named_as_it_was_told(
    judgement: Judgement, told: Mapping[Teller, tuple[Story, frozenset[str]]], tell: Teller
) -> None:
    story, expected = told[tell]
    found = findings(judgement, story.number)
    assert {one.anomaly for one in found} == expected, [f"{one.anomaly} {one.view}: {one.detail}" for one in found]


def test_there_is_a_story_of_every_anomaly(told: Mapping[Teller, tuple[Story, frozenset[str]]]) -> None:
    assert {name for _, expected in told.values() for name in expected} == ANOMALIES.keys()


def test_every_check_names_only_what_it_says_and_none_is_idle(judgement: Judgement) -> None:
    allowed = {check.name: set(check.anomalies) for check in CHECKS}
    assert {name for names in allowed.values() for name in names} == ANOMALIES.keys()
    for check in judgement.checks:
        assert set(check.counts) <= allowed[check.name]
        assert check.witnesses > 0
        assert check.status is Status.VIOLATED


def test_a_finding_shows_the_operations_and_the_log_around_it(
    judgement: Judgement, told: Mapping[Teller, tuple[Story, frozenset[str]]]
) -> None:
    story, _ = told[a_reader_lacks_a_transaction]
    (one,) = findings(judgement, story.number)
    assert (one.view, one.txn, one.offset) == (f"spark-{story.number}", story.txn(1), 0)
    assert {row.get("verb") for row in one.around.operations} >= {"begin", "produce", "commit"}
    assert [(row["offset"], row.get("control")) for row in one.around.log] == [
        (0, None),
        (1, "COMMIT"),
        (2, None),
        (3, "COMMIT"),
    ]


def test_a_stuck_stable_offset_says_since_when_and_who_holds_it(
    judgement: Judgement, told: Mapping[Teller, tuple[Story, frozenset[str]]]
) -> None:
    numbers = {tell.__name__: story.number for tell, (story, _) in told.items()}
    known = findings(judgement, numbers["a_late_produce_hangs_and_holds_up_the_readers"])
    (stuck,) = [one for one in known if one.anomaly == "stuck-lso"]
    assert stuck.lasted_ms == 9e9 - 5e9
    assert stuck.producer_id == numbers["a_late_produce_hangs_and_holds_up_the_readers"] * 10
    unknown = findings(judgement, numbers["the_last_stable_offset_is_stuck_with_nothing_open"])
    assert [(one.lasted_ms, one.producer_id) for one in unknown] == [(None, None)]


def test_what_is_not_known_is_undecided_and_what_is_missing_is_not_accused(
    session: SparkHandle, tmp_path: Path
) -> None:
    story = Story(name="cut", number=1)
    story.init()
    story.whole(1)
    story.whole(2)
    story.end(readers=[])
    del story.events["log"][2:]
    judged = judge(history_of(session.spark, [story], tmp_path))
    assert judged.anomalies == {}
    by_name = {check.name: check for check in judged.checks}
    assert by_name["transactions-are-whole"].status is Status.UNDECIDED
    assert "ends at 2, below the high watermark 4" in by_name["transactions-are-whole"].undecided
    assert by_name["views-agree-with-the-log"].status is Status.UNDECIDED


def test_where_nothing_happened_nothing_holds(session: SparkHandle, tmp_path: Path) -> None:
    judged = judge(history_of(session.spark, [], tmp_path, missing=["reads", "offsets"]))
    assert {check.status for check in judged.checks} == {Status.NOT_EXERCISED}
    assert all(check.reason for check in judged.checks)
