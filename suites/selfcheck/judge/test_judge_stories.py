"""The judge names each anomaly in its stories, and names nothing in those that only look like one.

All stories are judged together, as one history of many topics; a finding belongs to a story by its topic, its
operations or its producer id.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError, error_name
from harness.base.user_error import UserError
from harness.evidence.history.anomalies import find_anomalies
from harness.evidence.history.changed_offer import CHANGED_OFFERS
from harness.evidence.history.judgement import HistoryFinding, Judgement
from harness.evidence.history.operation import FaultWindow, OpenProducer, Outcome
from harness.evidence.history.unanswered_request import UNANSWERED
from harness.evidence.status import Status
from harness.judge import judge
from harness.judge.all_checks import CHECKS
from harness.judge.checks.settled.descriptions import PRODUCERS_ASKED
from harness.spark.history import sizing
from harness.spark.session.spark_session import SparkHandle, open_session
from suites.selfcheck.fixtures.stories.story import Story, history_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryCase:
    """A story of an anomaly's file; its number keeps it apart from the others."""

    number: int
    anomaly: str
    write: Callable[[Story], Sequence[str]]

    def written(self) -> tuple[Story, frozenset[str]]:
        """The story, and what must be named in it."""
        story = Story(name=self.write.__name__, number=self.number)
        return story, frozenset(self.write(story))

    def __str__(self) -> str:
        return self.write.__name__


STORIES = tuple(
    StoryCase(number=number, anomaly=name, write=write)
    for number, (name, write) in enumerate(
        ((one.name, write) for one in find_anomalies().values() for write in one.stories), start=1
    )
)
NUMBERS = {str(case): case.number for case in STORIES}


@pytest.fixture(scope="module")
def session() -> Iterator[SparkHandle]:
    """One JVM for this file."""
    with open_session(name="stories") as opened:
        yield opened


SIZES_FROM: Mapping[str, Mapping[str, int]] = {
    "interpreted": {"COMPILED_BYTES": sizing.LARGE_BYTES},
    "compiled": {"COMPILED_BYTES": 0},
    "spread": {"LARGE_BYTES": 0},
}
"""How Spark works, by the sizes from which it does so."""


@pytest.fixture(scope="module", params=SIZES_FROM)
def judgement(
    request: pytest.FixtureRequest, session: SparkHandle, tmp_path_factory: pytest.TempPathFactory
) -> Judgement:
    """The judgement of all stories together, by the plans of each size of histories."""
    stories = [case.written()[0] for case in STORIES]
    with pytest.MonkeyPatch.context() as patched:
        for name, size in SIZES_FROM[request.param].items():
            patched.setattr(sizing, name, size)
        return judge(history_of(session.spark, stories, tmp_path_factory.mktemp("stories")), shown=1_000)


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


@pytest.mark.parametrize("case", STORIES, ids=str)
def test_the_anomalies_that_a_story_expects_are_named_and_nothing_else(judgement: Judgement, case: StoryCase) -> None:
    _, expected = case.written()
    found = findings(judgement, case.number)
    assert {one.anomaly for one in found} == expected, [f"{one.anomaly} {one.view}: {one.detail}" for one in found]


@pytest.mark.parametrize("anomaly", find_anomalies())
def test_an_anomaly_has_a_story_and_its_file_has_no_other_ones(anomaly: str) -> None:
    named = [case.written()[1] for case in STORIES if case.anomaly == anomaly]
    assert any(named)
    assert all(anomaly in names for names in named if names)


def test_every_check_names_only_its_own_anomalies_and_each_names_some(judgement: Judgement) -> None:
    allowed = {check.name: set(check.anomalies) for check in CHECKS}
    assert {name for names in allowed.values() for name in names} == find_anomalies().keys()
    for check in (one for one in judgement.checks if allowed[one.name]):
        assert set(check.counts) <= allowed[check.name]
        assert check.witnesses > 0
        assert check.status is Status.VIOLATED


def test_a_finding_shows_the_operations_and_the_log_around_it(judgement: Judgement) -> None:
    (case,) = (case for case in STORIES if str(case) == "a_reader_lacks_a_transaction")
    story, _ = case.written()
    (one,) = findings(judgement, story.number)
    assert (one.view, one.txn, one.offset) == (f"spark-{story.number}", story.txn(1), 0)
    assert {row.get("verb") for row in one.around.operations} >= {"begin", "produce", "commit"}
    assert [(row["offset"], row.get("control")) for row in one.around.log] == [
        (0, None),
        (1, "COMMIT"),
        (2, None),
        (3, "COMMIT"),
    ]


def test_a_stuck_stable_offset_names_its_time_and_producer(judgement: Judgement) -> None:
    number = NUMBERS["a_late_produce_hangs_and_holds_up_the_readers"]
    (stuck,) = [one for one in findings(judgement, number) if one.anomaly == "stuck-lso"]
    assert stuck.lasted_ms == 9e9 - 5e9
    assert stuck.producer_id == number * 10
    unknown = findings(judgement, NUMBERS["the_last_stable_offset_is_stuck_with_nothing_open"])
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


@pytest.mark.parametrize("asked", [True, False])
def test_a_producer_that_no_leader_tells_of_is_missed_only_where_its_leader_was_asked(
    session: SparkHandle, tmp_path: Path, asked: bool
) -> None:
    story = Story(name="untold", number=1)
    story.init()
    story.whole(1, 0, 1)
    story.end()
    history = history_of(session.spark, [story], tmp_path)
    facts: dict[str, Json] = {PRODUCERS_ASKED: [f"{story.topic}-1"] if asked else []}
    judged = judge(replace(history, run={**history.run, "facts": facts}))
    assert judged.anomalies == ({"wrong-description": 1} if asked else {})
    (check,) = (one for one in judged.checks if one.name == "descriptions-are-true")
    assert [one.partition for one in check.findings] == ([1] if asked else [])


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ({"error": KafkaError.NOT_COORDINATOR}, True),
        ({"error": KafkaError.UNKNOWN_SERVER_ERROR, "waited_ms": 1.0}, True),
        ({"error": KafkaError.NOT_COORDINATOR, "waited_ms": 999.0}, False),
        ({"error": KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}, False),
        ({"error": None}, False),
        ({"error": KafkaError.NOT_LEADER_OR_FOLLOWER, "api": "Fetch"}, False),
    ],
    ids=["refused", "failed", "given up at once", "not allowed", "no answer", "a log that cannot be read"],
)
def test_brokers_that_refuse_to_tell_what_they_keep_are_unavailable(
    session: SparkHandle, tmp_path: Path, told: Mapping[str, Any], named: bool
) -> None:
    story = Story(name="refused", number=1)
    story.init("probe-1")
    story.whole(1, actor="probe-1")
    story.end()
    history = history_of(session.spark, [story], tmp_path)
    unanswered: Json = [{"api": "DescribeTransactions", "of": "id-1", "waited_ms": 10_012.0, **told}]
    judged = judge(replace(history, run={**history.run, "facts": {UNANSWERED: unanswered}}))
    assert judged.anomalies == ({"unavailable-after-heal": 1} if named else {})
    (check,) = (one for one in judged.checks if one.name == "the-cluster-serves-after-heal")
    assert [one.detail.split(",")[0] for one in check.findings] == [
        f"after settling DescribeTransactions of id-1 was answered with {error_name(told['error'])}"
    ] * named


def test_a_malformed_fact_of_what_was_not_answered_is_refused(session: SparkHandle, tmp_path: Path) -> None:
    history = history_of(session.spark, [], tmp_path)
    with pytest.raises(UserError, match=r"facts\.unanswered of run\.json cannot be read"):
        judge(replace(history, run={**history.run, "facts": {UNANSWERED: ["nothing"]}}))


def test_a_broker_that_advertises_another_level_than_before_is_told(session: SparkHandle, tmp_path: Path) -> None:
    changed: Json = [{"broker": 2, "what": "finalized transaction.version", "before": "2", "after": "nothing"}]
    history = history_of(session.spark, [], tmp_path)
    judged = judge(replace(history, run={**history.run, "facts": {CHANGED_OFFERS: changed}}))
    (check,) = (one for one in judged.checks if one.findings)
    assert [one.detail for one in check.findings] == [
        "broker 2 advertised finalized transaction.version 2 before the run, and nothing after it"
    ]


@pytest.mark.parametrize(("start", "named"), [(-1, []), (7, ["hanging-transaction", "wrong-description"])])
def test_of_a_partition_that_only_its_leader_tells_of_nothing_is_compared_but_what_is_open_there(
    session: SparkHandle, tmp_path: Path, start: int, named: Sequence[str]
) -> None:
    story = Story(name="elsewhere", number=1)
    story.init()
    story.whole(1)
    story.end()
    kept = OpenProducer(
        topic="elsewhere", partition=0, producer_id=5, epoch=0, transaction_start_offset=start, last_timestamp_ms=1
    )
    story.add(kept)
    assert sorted(judge(history_of(session.spark, [story], tmp_path)).anomalies) == named


def test_where_nothing_happened_nothing_holds(session: SparkHandle, tmp_path: Path) -> None:
    judged = judge(history_of(session.spark, [], tmp_path, missing=["reads", "offsets"]))
    assert {check.status for check in judged.checks} == {Status.NOT_EXERCISED}
    assert all(check.reason for check in judged.checks)


@pytest.mark.parametrize(("off_ms", "excused"), [((), False), ((2_800,), False), ((2_800, -2_800), True)])
def test_a_timeout_may_come_too_soon_by_what_clocks_were_apart(
    session: SparkHandle, tmp_path: Path, off_ms: Sequence[int], excused: bool
) -> None:
    story = Story(name="clocks", number=1)
    old: dict[str, Any] = {"client": "wire-v1", "protocol": "v1"}
    story.init(timeout_ms=6_000, **old)
    story.begin(1)
    story.produce(1, tries=2, **old)
    story.commit(1, control="ABORT", outcome=Outcome.REFUSED, error=int(KafkaError.PRODUCER_FENCED), **old)
    story.end()
    jump = FaultWindow(name="clock-jump", kind="process", where="broker-1", started=0, ended=9, struck=1, how="off")
    story.add(*(replace(jump, clock_off_ms=each) for each in off_ms))
    judgement = judge(history_of(session.spark, [story], tmp_path))
    assert [one.anomaly for one in findings(judgement, 1)] == ([] if excused else ["no-order-explains-it"])
