"""Liars on a real cluster: who hears one must say VIOLATED, with the lie's own anomaly, and nothing without the lie.

Needs Java, and once Maven and Go. One cluster of 4.3.1 and one Spark JVM for all. Clients work and readers read on the
``rival`` lane, on which the lies are told; the observer's lane tells the truth.
"""

import gc
import itertools
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.base import wait
from harness.base.addresses import Lane
from harness.base.clock import RunClock
from harness.chaos.observe.drain import Scope, drain
from harness.clients.recording_client import RecordingClient
from harness.evidence.history_writer import CHAOS_FORMAT, HistoryWriter
from harness.evidence.judgement import Judgement
from harness.evidence.status import Status
from harness.faults.fault_target import FaultTarget
from harness.faults.liar import Liar
from harness.judge import judge
from harness.spark.history.history_frames import open_history
from harness.spark.history.seal import seal
from harness.spark.session.spark_session import SparkHandle, open_session
from harness.wire.requests.log.list_offsets import ListOffsets
from suites.selfcheck.fixtures.live_clients import PARTITIONS, WIRE, options, site_of
from toxics.liars import (
    forged_acknowledgement,
    forgiven_fencing,
    hide_aborted_list,
    lying_lso,
    swapped_markers,
)

pytestmark = pytest.mark.live

LIED_TO: Lane = "rival"
SETTLED = 20.0


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkHandle]:
    """One JVM for all judgements."""
    session = open_session(name="liars")
    yield session
    session.close()


@dataclass(slots=True, kw_only=True)
class Story:
    """Plays that are recorded into one folder, read once, and judged together."""

    fault_target: FaultTarget
    folder: Path
    history_writer: HistoryWriter
    clock: RunClock = field(default_factory=RunClock)
    topics: list[str] = field(default_factory=list)
    clients: list[RecordingClient] = field(default_factory=list)
    txns: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def read(self, truth: Lane) -> None:
        """Everything that is needed, the readers' part on the lane of lies."""
        for client in self.clients:
            client.close()
        lanes = self.fault_target.cluster.topology.lanes
        places = [(topic, index) for topic in self.topics for index in range(PARTITIONS)]
        scope = Scope(partitions=places, truth=lanes[truth], readers=lanes[LIED_TO])
        assert drain(scope, self.history_writer, self.clock).notes == []
        self.history_writer.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """A short play on a topic of its own."""

    story: Story
    topic: str

    def client(self, name: str, *, transactional_id: str = "") -> RecordingClient:
        """A client on the lane of lies, initialised."""
        actor, real = f"{self.topic}-{name}", f"{self.topic}-{transactional_id or name}"
        made = RecordingClient(
            client=WIRE["wire-v1"].open(options(self.story.fault_target, actor, real, lane=LIED_TO, request_ms=10_000)),
            actor=actor,
            transactional_id=real,
            clock=self.story.clock,
            history_writer=self.story.history_writer,
        )
        self.story.clients.append(made)
        assert made.init().done
        return made

    def begin(self, client: RecordingClient, size: int) -> None:
        """A transaction with a number of its own."""
        client.begin(next(self.story.txns), size)

    def transact(self, client: RecordingClient, *, commit: bool) -> None:
        """A transaction with a record on every partition."""
        self.begin(client, PARTITIONS)
        for index in range(PARTITIONS):
            assert client.produce(self.topic, index).done
        assert (client.commit() if commit else client.abort()).done

    def settled(self) -> None:
        """Wait until no transaction is open on any partition."""
        wait.until(lambda: all(map(self._stable, range(PARTITIONS))), what="LSO = HW", within=SETTLED)

    def _stable(self, index: int) -> bool:
        fault_target = self.story.fault_target
        leader = fault_target.leader(self.topic, index)
        asked = [ListOffsets(topic=self.topic, partition=index, isolation=isolation) for isolation in (0, 1)]
        assert leader is not None
        high_watermark, stable = (fault_target.client.call(leader, verb).result.offset for verb in asked)
        return stable == high_watermark


def commits_and_aborts(play: Play) -> None:
    """Two transactions that commit and two that abort, by turns."""
    client = play.client("teller")
    for commit in (True, False, True, False):
        play.transact(client, commit=commit)
    play.settled()


def one_producer_each(play: Play) -> None:
    """Transactions that commit and one that aborts, each by a producer of its own."""
    for name, commit in (("a", True), ("b", False), ("c", True)):
        play.transact(play.client(name), commit=commit)
    play.settled()


def left_open(play: Play) -> None:
    """A transaction that commits, and one that stays open."""
    play.transact(play.client("teller"), commit=True)
    play.settled()
    sleeper = play.client("sleeper")
    play.begin(sleeper, 2)
    assert sleeper.produce(play.topic, 0).done


def fenced_in_mid_transaction(play: Play) -> None:
    """A second producer of the same id takes over; the first one writes into another partition, and both commit."""
    zombie = play.client("zombie", transactional_id="same")
    play.begin(zombie, 1)
    rival = play.client("rival", transactional_id="same")
    play.begin(rival, 1)
    assert rival.produce(play.topic, 0).done
    zombie.produce(play.topic, 1)
    zombie.commit()
    assert rival.commit().done
    play.settled()


@dataclass(frozen=True, slots=True)
class Case:
    """What a liar needs to be heard.

    :param truth: The lane by which the raw log is read and brokers are asked.
    :param besides: Anomalies that the play itself has, lie or not.
    """

    liar: Liar
    act: Callable[[Play], None]
    truth: Lane = "observer"
    besides: frozenset[str] = frozenset()


OPEN = frozenset({"hanging-transaction", "stuck-lso"})
CASES = (
    Case(hide_aborted_list.LIAR, commits_and_aborts),
    Case(forged_acknowledgement.LIAR, commits_and_aborts),
    Case(swapped_markers.LIAR, one_producer_each, truth=LIED_TO),
    Case(forgiven_fencing.LIAR, fenced_in_mid_transaction),
    Case(lying_lso.LIAR, left_open, truth=LIED_TO, besides=OPEN),
)


def story(fault_target: FaultTarget, folder: Path) -> Story:
    """An empty one."""
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"kind": "chaos", "format": CHAOS_FORMAT}))
    return Story(fault_target=fault_target, folder=folder, history_writer=HistoryWriter(folder / "history"))


def play(told: Story, case: Case, topic: str) -> None:
    """Another play of the story."""
    told.fault_target.admin.create_topic(topic, {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)})
    told.topics.append(topic)
    case.act(Play(story=told, topic=topic))


def judged(spark: SparkHandle, folder: Path) -> Judgement:
    """What the judge says of a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves collect()'s sockets to the collector
        seal(spark.spark, folder)
        judgement = judge(open_history(spark.spark, folder))
        gc.collect()
        return judgement


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of all plays: the folder of each lie, how many messages it changed, and the folder without lies."""

    folders: Mapping[str, Path]
    changed: Mapping[str, int]
    troubles: tuple[str, ...]
    sound: Path


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """Everything played on one cluster, which has ended when the judge begins."""
    place = tmp_path_factory.mktemp("liars")
    changed = {}
    with site_of("4.3.1", place, "unused") as fault_target:
        for case in CASES:
            told = story(fault_target, place / case.liar.name)
            with case.liar.on_lane(fault_target, LIED_TO) as handle:
                play(told, case, case.liar.name)
                told.read(case.truth)
            changed[case.liar.name] = handle.report().struck
        sound = story(fault_target, place / "sound")
        for case in CASES:
            play(sound, case, f"true-{case.liar.name}")
        sound.read(LIED_TO)
        return Heard(
            {case.liar.name: place / case.liar.name for case in CASES},
            changed,
            fault_target.gate.errors(),
            sound.folder,
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.liar.name)
def test_a_lie_is_violated_with_its_own_anomaly(case: Case, heard: Heard, spark: SparkHandle) -> None:
    assert heard.changed[case.liar.name] > 0
    said = judged(spark, heard.folders[case.liar.name])
    assert said.status is Status.VIOLATED
    assert set(case.liar.shows) <= said.anomalies.keys() <= {*case.liar.shows, *case.besides}, details(said)


def test_without_lies_the_same_plays_are_sound(heard: Heard, spark: SparkHandle) -> None:
    said = judged(spark, heard.sound)
    assert said.anomalies.keys() == OPEN, details(said)
    assert {found.topic for check in said.checks for found in check.findings} == {f"true-{lying_lso.LIAR.name}"}


def test_nothing_went_wrong_in_the_gate_itself(heard: Heard) -> None:
    assert heard.troubles == ()


def details(said: Judgement) -> Mapping[str, list[str]]:
    """The findings in words, for whoever reads a failure."""
    return {check.name: [found.detail for found in check.findings] for check in said.checks if check.findings}
